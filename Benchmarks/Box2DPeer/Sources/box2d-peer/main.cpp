// Simulates the scenes of `bench step` in Box2D 2.4 and prints the steps per second of processor
// time. One unit is one meter, the step is 1/60 s, and restitution has no threshold, as in Carom.
#include <box2d/box2d.h>
#include <time.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

const float step = 1.0f / 60.0f;
const int velocityIterations = 8;
const int positionIterations = 3;

double cpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

b2Body *addDisc(b2World &world, b2BodyType type, b2Vec2 place, float radius, float restitution) {
  b2BodyDef body;
  body.type = type;
  body.position = place;
  body.bullet = type == b2_dynamicBody;
  body.fixedRotation = true;
  body.allowSleep = false;
  b2Body *disc = world.CreateBody(&body);
  b2CircleShape circle;
  circle.m_radius = radius;
  b2FixtureDef fixture;
  fixture.shape = &circle;
  fixture.density = 0.03f / (b2_pi * radius * radius);
  fixture.friction = 0;
  fixture.restitution = restitution;
  fixture.restitutionThreshold = 0;
  disc->CreateFixture(&fixture);
  return disc;
}

void addRail(b2Body *table, b2Vec2 a, b2Vec2 b, float restitution) {
  b2EdgeShape edge;
  edge.SetTwoSided(a, b);
  b2FixtureDef fixture;
  fixture.shape = &edge;
  fixture.friction = 0;
  fixture.restitution = restitution;
  fixture.restitutionThreshold = 0;
  table->CreateFixture(&fixture);
}

const int period = 600;

b2Vec2 place(int tick, double side) {
  double angle = 2 * M_PI * (tick % period) / period;
  return b2Vec2(static_cast<float>(side * (0.8 + 0.15 * std::sin(17 * angle))),
                static_cast<float>(side * 0.3 * std::sin(10 * angle + side)));
}

double hockey(int steps) {
  b2World world(b2Vec2(0, 0));
  b2BodyDef fixed;
  b2Body *table = world.CreateBody(&fixed);
  const float x = 1.2f, y = 0.6f, g = 0.15f;
  addRail(table, b2Vec2(-x, y), b2Vec2(x, y), 0.9f);
  addRail(table, b2Vec2(-x, -y), b2Vec2(x, -y), 0.9f);
  for (float side : {-x, x}) {
    addRail(table, b2Vec2(side, g), b2Vec2(side, y), 0.9f);
    addRail(table, b2Vec2(side, -g), b2Vec2(side, -y), 0.9f);
  }
  b2Body *puck = addDisc(world, b2_dynamicBody, b2Vec2(0, 0), 0.04f, 0.9f);
  puck->SetLinearVelocity(b2Vec2(2.7f, 1.1f));
  b2Body *home = addDisc(world, b2_kinematicBody, place(0, -1), 0.05f, 0.9f);
  b2Body *away = addDisc(world, b2_kinematicBody, place(0, 1), 0.05f, 0.9f);
  std::vector<b2Vec2> velocities[2];
  for (int side = 0; side < 2; side++)
    for (int tick = 0; tick < period; tick++)
      velocities[side].push_back(60.0f *
                                 (place(tick + 1, 2 * side - 1) - place(tick, 2 * side - 1)));
  double start = cpuSeconds();
  for (int n = 0; n < steps; n++) {
    int tick = n % period;
    if (tick == 0) {
      home->SetTransform(place(0, -1), 0);
      away->SetTransform(place(0, 1), 0);
    }
    home->SetLinearVelocity(velocities[0][static_cast<size_t>(tick)]);
    away->SetLinearVelocity(velocities[1][static_cast<size_t>(tick)]);
    world.Step(step, velocityIterations, positionIterations);
    b2Vec2 p = puck->GetPosition();
    if (std::fabs(p.x) > x || std::fabs(p.y) > y) {
      puck->SetTransform(b2Vec2(0, 0), 0);
      puck->SetLinearVelocity(b2Vec2(2.7f, 1.1f));
    }
  }
  return steps / (cpuSeconds() - start);
}

double gas(int count, int steps) {
  b2World world(b2Vec2(0, 0));
  b2BodyDef fixed;
  b2Body *box = world.CreateBody(&fixed);
  const double radius = 0.04;
  const double half = std::sqrt(count * M_PI * radius * radius / 0.2) / 2;
  const float h = static_cast<float>(half);
  addRail(box, b2Vec2(-h, -h), b2Vec2(h, -h), 1);
  addRail(box, b2Vec2(h, -h), b2Vec2(h, h), 1);
  addRail(box, b2Vec2(h, h), b2Vec2(-h, h), 1);
  addRail(box, b2Vec2(-h, h), b2Vec2(-h, -h), 1);
  const int side = static_cast<int>(std::ceil(std::sqrt(count)));
  const double pitch = 2 * half / side;
  for (int i = 0; i < count; i++) {
    b2Vec2 p(static_cast<float>(-half + pitch * (i % side + 0.5)),
             static_cast<float>(-half + pitch * (i / side + 0.5)));
    b2Body *disc = addDisc(world, b2_dynamicBody, p, 0.04f, 1);
    double angle = 2.399963 * i;
    disc->SetLinearVelocity(b2Vec2(static_cast<float>(2 * std::cos(angle)),
                                   static_cast<float>(2 * std::sin(angle))));
  }
  for (int n = 0; n < 5; n++) world.Step(step, velocityIterations, positionIterations);
  double start = cpuSeconds();
  for (int n = 0; n < steps; n++) world.Step(step, velocityIterations, positionIterations);
  return steps / (cpuSeconds() - start);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: box2d-peer hockey|gas-100|gas-1000 STEPS (0: default number)\n");
    return 2;
  }
  int steps = std::atoi(argv[2]);
  double rate = 0;
  if (std::strcmp(argv[1], "hockey") == 0) {
    rate = hockey(steps > 0 ? steps : 60000);
  } else if (std::strcmp(argv[1], "gas-100") == 0) {
    rate = gas(100, steps > 0 ? steps : 300);
  } else if (std::strcmp(argv[1], "gas-1000") == 0) {
    rate = gas(1000, steps > 0 ? steps : 20);
  } else {
    std::fprintf(stderr, "unknown scene %s: choose hockey, gas-100 or gas-1000\n", argv[1]);
    return 2;
  }
  std::printf("%.3f\n", rate);
  return 0;
}
