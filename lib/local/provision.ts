/** Brings the engines to the state that the template describes. Each part may run again on the state of an earlier run. */
export { provisionQueues } from './provision/queues.ts';
export { provisionSecrets } from './provision/secrets.ts';
export { provisionTables } from './provision/tables.ts';
