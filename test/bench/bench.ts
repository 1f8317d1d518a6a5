import { startNamedProgram } from 'terminal/named-programs.ts';

/* `npm run bench`: each benchmark is a program of its own, with its own exit code. */
await startNamedProgram('bench', 'Measures the service on this machine.', {
  speed: {
    about: 'throughput, latency and load time of functions; --help for its sections',
    start: () => import('./speed.ts'),
  },
  recovery: {
    about: 'rehearsals of recovery: an outage of 500 events, kill -9 in a job, a job of 20,000 events',
    start: () => import('./recovery.ts'),
  },
  requests: {
    about: 'requests to AWS of each piece of work, counted for npm run cost: 12 min',
    start: () => import('./requests.ts'),
  },
});
