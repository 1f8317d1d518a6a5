import * as z from 'zod/mini';
import { DeliveryId, EventId, Timestamp } from '../aws/ids.ts';
import {
  AttemptErrorCode,
  AttemptRecord,
  DeliveryStatus,
  NextRetryReason,
  TerminalReason,
  WebhookRequest,
} from '../delivery/delivery.ts';
import { EventTypeName } from '../events/events.ts';
import type { FieldErrorCode } from '../http/problem.ts';
import { parseUrlText } from '../receivers/url-text.ts';

/*
 * Building blocks of all schemas, and parameters of all routes. A response schema removes fields that it does
 * not name. Calls that create schemas are marked as free of side effects, so that the bundler drops unused
 * ones: creating all took 7 ms.
 */

/** What a refinement of a schema reports besides its message. */
export const fault = (code: FieldErrorCode, limit?: number) => ({ code, limit });

/**
 * Text without control characters (Unicode, general category Cc) other than tab, line feed and carriage
 * return, in a notation that the regular expressions of every language read.
 */
export const WITHOUT_CONTROLS = '^[^\\x00-\\x08\\x0B\\x0C\\x0E-\\x1F\\x7F-\\x9F]*$';
const READABLE = new RegExp(WITHOUT_CONTROLS, 'u');

const readable = () => [
  z.refine<string>((given) => given.isWellFormed(), {
    error: 'must be text without lone surrogates',
    params: fault('invalid_characters'),
  }),
  z.refine<string>((given) => READABLE.test(given), {
    error: 'must not have control characters other than tab, line feed and carriage return',
    params: fault('invalid_characters'),
  }),
];

/**
 * Text up to a length. Refuses lone surrogates, which UTF-8 cannot store.
 * @__NO_SIDE_EFFECTS__
 */
export const text = (maximum: number) =>
  z.string().check(z.minLength(1), z.maxLength(maximum), ...readable());

/**
 * As `text`, but may be empty, and its length counts in code points, so that an emoji is one character.
 * @__NO_SIDE_EFFECTS__
 */
export const note = (maximum: number) =>
  z.string().check(
    z.refine((given) => [...given].length <= maximum, {
      error: `must have at most ${maximum} characters`,
      params: fault('too_long', maximum),
    }),
    ...readable(),
  );

const METADATA_ENTRIES = 20;
const METADATA_NAME = 40;
const METADATA_VALUE = 500;

/** A customer's own texts by name (docs/specification.md, Metadata). */
export const metadata = /* @__PURE__ */ z
  .record(/* @__PURE__ */ text(METADATA_NAME), /* @__PURE__ */ note(METADATA_VALUE), {
    error: ({ code }) =>
      code === 'invalid_key'
        ? `must have a name of 1 to ${METADATA_NAME} characters, none of which is a control character`
        : undefined,
  })
  .check(
    /* @__PURE__ */ z.refine((given) => Object.keys(given).length <= METADATA_ENTRIES, {
      error: `must have at most ${METADATA_ENTRIES} entries`,
      params: fault('too_many', METADATA_ENTRIES),
    }),
  );

/**
 * A receiver's URL, as far as its text tells. The use case decides about its host, for which it needs the
 * deployment's policy.
 */
export const receiverUrl = /* @__PURE__ */ z.string().check(
  /* @__PURE__ */ z.check(({ value, issues }) => {
    const parsed = parseUrlText(value);
    if (parsed.ok) return;
    const { problem: message, code, limit } = parsed;
    issues.push({ code: 'custom', input: value, message, params: fault(code, limit) });
  }),
);

/**
 * Returns null in responses for a missing attribute.
 * @__NO_SIDE_EFFECTS__
 */
export const orNull = <T extends z.ZodMiniType>(schema: T) => z._default(z.nullable(schema), null);

export const listFields = ({ shape }: z.ZodMiniObject): string[] => Object.keys(shape);

/**
 * @param what singular and plural, for error messages
 * @__NO_SIDE_EFFECTS__
 */
export const distinct = <T extends Record<string, string>>(
  names: z.ZodMiniEnum<T>,
  what: [one: string, many: string],
) =>
  z
    .array(names, {
      error: ({ code }) => (code === 'invalid_type' ? `must be an array of ${what[1]}` : undefined),
    })
    .check(z.minLength(1), z.maxLength(names.options.length), withoutRepetition(what[0]));

/** @__NO_SIDE_EFFECTS__ */
export const withoutRepetition = (one: string) =>
  z.refine<readonly string[]>((given) => new Set(given).size === given.length, {
    error: `must not name ${one} twice`,
    params: fault('duplicate'),
  });

/**
 * An integer in a query, clamped to a range (docs/specification.md, Pagination).
 * @param standard value when absent or empty
 * @__NO_SIDE_EFFECTS__
 */
export const clamped = ({ least, most, standard }: { least: number; most: number; standard: number }) =>
  z.pipe(
    z._default(z.string().check(z.regex(/^([+-]?\d+)?$/, { error: 'must be an integer' })), ''),
    z.transform((given) => (given === '' ? standard : Math.min(Math.max(Number(given), least), most))),
  );

/**
 * One or more names in a query, separated by commas.
 * @__NO_SIDE_EFFECTS__
 */
export const listed = <T extends Record<string, string>>(names: z.ZodMiniEnum<T>) =>
  z.pipe(
    z.string().check(
      z.regex(listOf(names.options), {
        error: `must be a comma-separated list of values from ${names.options.join(', ')}`,
      }),
    ),
    z.transform((given) => names.options.filter((name) => given.split(',').includes(name))),
  );

const listOf = (names: readonly string[]): RegExp => {
  const alternatives = `(${names.map((name) => name.replaceAll('.', '\\.')).join('|')})`;
  return new RegExp(`^${alternatives}(,${alternatives})*$`);
};

/**
 * Up to so many ids in a query, separated by commas.
 * @__NO_SIDE_EFFECTS__
 */
export const listedIds = <T extends string>(id: z.ZodMiniType<T, T>, most: number) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((given) => [...new Set(given.split(','))]),
    ),
    z.array(id as z.ZodMiniType<T, string>).check(z.maxLength(most)),
  );

/** A time in a request, UTC or with an offset (RFC 3339): clients write what their language prints. */
export const requestTime = z.iso.datetime({
  offset: true,
  error: 'must be a time such as 2026-11-20T09:30:00.000Z',
});

/** A time in a query. */
export const moment = z.pipe(
  requestTime,
  z.transform((given) => new Date(Math.max(0, Date.parse(given)))),
);

export const SortOrder = z.enum(['asc', 'desc']);

export const PageQuery = z.object({
  limit: clamped({ least: 1, most: 100, standard: 20 }),
  cursor: z.optional(z.string()),
});

/** Failures of a receiver: since when, and how many more disable it. */
export const Failing = z.object({ since: orNull(Timestamp), failuresUntilDisabled: z.int() });

/** Fields of a delivery, except the ids of the delivery and its receiver. */
export const DELIVERY_FIELDS = {
  eventId: EventId,
  eventType: EventTypeName,
  status: DeliveryStatus,
  attempts: z.int(),
  nextRetryAt: orNull(Timestamp),
  nextRetryReason: orNull(NextRetryReason),
  terminalAt: orNull(Timestamp),
  terminalReason: orNull(TerminalReason),
  lastError: orNull(z.string()),
  lastErrorCode: orNull(AttemptErrorCode),
  lastResponseStatus: orNull(z.int()),
  redeliveryOf: orNull(DeliveryId),
  createdAt: Timestamp,
};

export const Attempt = z.extend(AttemptRecord, {
  status: orNull(z.int()),
  error: orNull(z.string()),
  errorCode: orNull(AttemptErrorCode),
  response: orNull(z.string()),
  request: orNull(WebhookRequest),
});

/** The request and the response of the last attempt, if requested and stored. */
export const LISTED_FIELDS = { request: z.optional(WebhookRequest), lastResponse: z.optional(z.string()) };
export const ATTEMPTS_FIELDS = { attemptLog: z.array(Attempt) };
export const DeliveryInclude = z.enum(['request', 'response']);

export const ListDeliveriesQuery = z.extend(PageQuery, {
  status: z.optional(listed(DeliveryStatus)),
  eventType: z.optional(listed(EventTypeName)),
  from: z.optional(moment),
  to: z.optional(moment),
  include: z.optional(DeliveryInclude),
});
