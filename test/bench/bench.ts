import { startNamedProgram } from 'terminal/named-programs.ts';

/* `npm run bench`: each benchmark is a program of its own, with its own exit code. */
await startNamedProgram('bench', 'Measures the service on this machine.', {
  speed: {
    about: 'throughput, latency and load time of functions; --help for its sections',
    start: () => import('./speed.ts'),
  },
  recovery: {
    about: 'live events beside a redelivery job, and whether it loses or repeats any',
    start: () => import('./recovery.ts'),
  },
  requests: {
    about: 'requests to AWS of each piece of work, counted for npm run cost: 12 min',
    start: () => import('./requests.ts'),
  },
});
