/**
 * Properties that must hold under all faults (docs/architecture.md, Guarantees; docs/specification.md,
 * Deliveries), each with a short name.
 */
export const PROMISES = {
  'right deliveries':
    'an event has one delivery for each endpoint that was subscribed to it, and for no other',
  'one end': 'a delivery ends once, and never changes afterwards',
  'eight attempts': 'at most 8 attempts of a delivery are started, each under a number of its own',
  'one holder': 'no two workers hold a delivery at the same time',
  lease:
    'an attempt is recorded only under the lease that it was started under, and nothing else ends a leased delivery',
  record: 'what a delivery says about its attempts and its end is what happened',
  'nothing lost': 'an open delivery is always known to something that will bring it back',
  'not before its time': 'no attempt is started before it is due',
  'within its limit':
    'attempts at an endpoint with a limit have turns of their own, no closer than the limit allows',
  'as its endpoint says':
    'an attempt is made only for an active endpoint with the type of its event, at its URL, as they were since the invocation began',
  'exact count': 'ten failed deliveries in a row disable an endpoint, with one notice for its admins',
  'one warning': 'five failed deliveries in a row bring their admins one warning, and fewer none',
  'state events':
    'the fifth and the tenth failure in a row of an endpoint, and a success after five or more, are one event each for the other endpoints of its organization',
  'true ledger': 'the ledger counts each delivery and its end once',
  'whole job':
    'a redelivery job resends each event that its endpoint lacks once, also one whose fan-out was abandoned, counts what it has done, and makes nothing if it is to count only',
  window:
    'of a redelivery job at most a window of deliveries waits for first attempts at any time, and when it is stopped it makes no more than that',
  'fair shares':
    'a batch of the fresh or retry queue works on at most four deliveries of one organization at a time, waits for turns included',
  turns:
    'of the organizations whose work waits, each has its turn within two runs of a scheduled worker, however much the others have waiting',
  'followed once':
    'who follows the event log gets each event exactly once, in order; who follows a conversation gets each message exactly once, as soon as it is committed',
  'done once':
    'a request that is repeated with its Idempotency-Key, after any fault, changes what one request changes, and has its answer',
  'quota of e-mail':
    'e-mails of a kind to an organization have no more recipients in a day than its budget, except the first, and none is left out while its own budget has room',
  'one e-mail': 'each admin gets an e-mail at most once, and all get it or none',
  'comes to rest': 'when nothing goes wrong any more everything ends, in time and without loops',
  'the sandbox is closed':
    'nothing of a sandbox reaches a receiver of the world, and nothing live a simulated one',
  'as programmed': 'a simulated receiver does what its endpoint says, and a real one what it wants',
  'no work after a reset': 'work that starts after a reset does not touch the data that the reset deleted',
  'complete purge':
    'a purge begins when nothing can come any more, and when it is closed nothing of its generation is left',
  'nothing else is purged': 'a purge deletes only data of a generation that was reset',
  'no defect': 'no function fails by a defect of its own',
} as const;
export type PromiseName = keyof typeof PROMISES;

/** A broken promise, with the observation that shows it. */
export interface Violation {
  promise: PromiseName;
  detail: string;
}

/** The numbers of the specification. They are repeated here, so that a change in the service is noticed. */
export const ATTEMPTS = 8;
export const FAILURES_IN_A_ROW = 10;
export const FAILURES_BEFORE_WARNING = 5;
/** After the end of a pause, in which workers that saw it may still skip deliveries. */
export const PAUSE_ECHO_MS = 90_000;
export const EXPIRY_MS = 3 * 86_400_000;
