/** The tables with rows of sandboxes, in the order in which the purge reads them. */
const NAMES = ['outbox', 'deliveries', 'ledger', 'service'] as const;
export type TableName = (typeof NAMES)[number];
