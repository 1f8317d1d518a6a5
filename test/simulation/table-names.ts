/** The tables that have rows of sandboxes, in the order in which the purge goes through them. */
export const NAMES = ['outbox', 'deliveries', 'ledger', 'service'] as const;
export type TableName = (typeof NAMES)[number];
