/**
 * Brings the engines to the state that the template describes. Each part may run again on the state of an
 * earlier run.
 */
export { provisionEventBuses } from './event-buses.ts';
export { defineNamed } from './named.ts';
export { provisionQueues } from './queues.ts';
export { provisionSecrets } from './secrets.ts';
export { provisionTables } from './tables.ts';
export { provisionUserPool, userPoolOf } from './user-pool.ts';
