/** Brings the engines to the template's state. Each part may run again on an earlier run's state. */
export { provisionEventBuses } from './event-buses.ts';
export { defineNamed } from './named.ts';
export { provisionQueues } from './queues.ts';
export { provisionSecrets } from './secrets.ts';
export { provisionTables } from './tables.ts';
export { provisionTopics } from './topics.ts';
export { provisionUserPool, userPoolOf } from './user-pool.ts';
