import { startNamedProgram } from 'terminal/named-programs.ts';

/* `npm run bench`: each benchmark is a program of its own, with its own exit code. */
await startNamedProgram('bench', 'Measures the service on this machine.', {
  speed: {
    about:
      'throughput, latency, load of functions, cost, cold start, growth, kill -9; --help for its sections',
    start: () => import('./speed.ts'),
  },
  dashboard: {
    about: 'paint, long tasks, deliveries into the page and lists of 100,000, in Chromium',
    start: () => import('./dashboard.ts'),
  },
  tasks: {
    about: 'ten tasks in the dashboard: clicks, key presses and seconds until the answer is visible',
    start: () => import('./tasks.ts'),
  },
  pace: {
    about: 'requests per second at an endpoint with maxPerSecond, beside one without; fails beyond 10 %',
    start: () => import('./pace.ts'),
  },
  isolation: {
    about: 'latency at endpoints that answer while others hang',
    start: () => import('./isolation.ts'),
  },
  neighbours: {
    about: 'latency of ten honest organizations beside a hostile one; fails above 1.3 times',
    start: () => import('./neighbours.ts'),
  },
  parked: {
    about: 'read units and time of the reconciler with 200,000 parked retries',
    start: () => import('./parked.ts'),
  },
  recovery: {
    about: 'rehearsals of recovery: an outage of 500 events, kill -9 in a job, a job of 20,000 events',
    start: () => import('./recovery.ts'),
  },
  redelivery: {
    about: 'a redelivery job of 20,000 deliveries',
    start: () => import('./redelivery.ts'),
  },
  requests: {
    about: 'requests to AWS of each piece of work, counted for npm run cost: 10 min',
    start: () => import('./requests.ts'),
  },
  reset: {
    about: 'reset of a sandbox with 100,000 records',
    start: () => import('./reset.ts'),
  },
  sweep: {
    about: '10,000 sources, some of them due, and a run that is killed half-way',
    start: () => import('./sweep.ts'),
  },
});
