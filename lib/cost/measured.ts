import * as z from 'zod';
import { ALL_PRICED } from './prices.ts';

const Usage = z.partialRecord(z.enum(ALL_PRICED), z.number().nonnegative());
/** Billed quantities of a piece of work, by function or another part of it. */
const Piece = z.record(z.string(), Usage);
export type Piece = z.output<typeof Piece>;

/** At the rate of ten million a month, four a second, and as fast as the measuring machine sends. */
const Paced = z.strictObject({ steady: Piece, burst: Piece });

/** Content of `measured.json`, which `npm run bench -- requests` writes. */
export const Measured = z.strictObject({
  /** ISO 8601 date. */
  date: z.string().regex(/^\d{4}-\d\d-\d\d$/),
  machine: z.string(),
  /** A month in which nothing happens, by stage; `dev` without e-mail. */
  idle: z.strictObject({ prod: Piece, dev: Piece }),
  /** What a month in which anything happens adds in `prod`, at any load. */
  inUse: Usage,
  /** A call that records a message, with an `Idempotency-Key`, and what is behind the bus. */
  message: Paced,
  /** A call that lists messages. */
  read: Piece,
  /** From the outbox to a receiver that accepts the first attempt. */
  delivery: Paced,
  /** Of a message and of each of its deliveries, for as long as they are kept. */
  storage: z.strictObject({ message: Usage, delivery: Usage }),
  /** A delivery whose second attempt succeeds. */
  retried: Piece,
  /** A delivery whose eight attempts fail. */
  exhausted: Piece,
  /** A delivery whose receiver answers none of eight attempts. */
  timedOut: Piece,
});
export type Measured = z.output<typeof Measured>;
