import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from 'terminal/errors.ts';
import { z } from 'zod';
import { type ApiAnswer, ApiUnreachable, callApi, readBody, saidBy } from '../api-call.ts';
import type { Connection } from '../connection/connection.ts';
import { CommandError } from '../errors.ts';
import { backoffMs, paceAfter, readBudget, retryAfterMs, UNPACED, waitMs } from './pacing.ts';
import type { Listed, Page } from './round.ts';

const Endpoints = z.object({
  data: z.array(z.object({ id: z.string(), createdAt: z.iso.datetime() })),
  nextCursor: z.nullable(z.string()),
});
const Request = z.object({ headers: z.record(z.string(), z.string()), body: z.string() });
const Deliveries = z.object({
  data: z.array(
    z.object({
      id: z.string().regex(/^dlv_[0-9a-f]{32}$/),
      webhookId: z.string(),
      eventId: z.string(),
      eventType: z.string(),
      status: z.string(),
      request: Request.nullish(),
    }),
  ),
  nextCursor: z.nullable(z.string()),
});

export type SandboxEndpoint = z.infer<typeof Endpoints>['data'][number];

export interface SandboxDelivery extends Listed {
  eventId: string;
  eventType: string;
  /** Signed when listed; absent before the first attempt. */
  request: z.infer<typeof Request> | undefined;
}

/** States with further attempts. */
const OPEN = ['pending', 'retrying'];
const PAGE = 100;
/** Consecutive failed calls after which a one-time run gives up. */
const PATIENCE = 4;

export interface SandboxApiParts {
  /** Aborts when the user stops the program. */
  signal: AbortSignal;
  /** Whether to retry transient errors forever. */
  patient: boolean;
  /** Called once per kind of error, and on recovery. */
  onTrouble(text: string): void;
  onRecovery(): void;
  /** Monotonic milliseconds. */
  now(): number;
}

/** Calls of forwarding to the public API, with a sandbox key. */
export interface SandboxApi {
  /** All endpoints, and the time of the poll by the service's clock in epoch milliseconds. */
  endpoints(): Promise<{ endpoints: SandboxEndpoint[]; at: number }>;
  /**
   * A page of an endpoint's deliveries, newest first.
   * @returns undefined when the endpoint is gone, or the cursor is invalid after a reset
   */
  deliveries(webhookId: string, cursor: string | undefined): Promise<Page<SandboxDelivery> | undefined>;
}

/**
 * Keeps to its share of the sandbox's rate limit and retries transient errors. Calls throw UserError for
 * permanent ones: a rejected key, an API that never responded.
 */
export function sandboxApi({ baseUrl, key }: Connection, parts: SandboxApiParts): SandboxApi {
  let pace = UNPACED;
  let wasReached = false;
  let failures = 0;
  let trouble: string | undefined;

  const pause = (milliseconds: number) => sleep(milliseconds, undefined, { signal: parts.signal });

  /** One call, which may fail with a transient error. */
  async function attempt(path: string): Promise<ApiAnswer | ApiUnreachable> {
    await pause(waitMs(pace, parts.now()));
    const sentAt = parts.now();
    try {
      const answer = await callApi(baseUrl, { method: 'GET', path, bearer: key, signal: parts.signal });
      pace = paceAfter(pace, readBudget(answer.headers), sentAt);
      return answer;
    } catch (error) {
      if (error instanceof ApiUnreachable && wasReached) return error;
      throw error;
    }
  }

  function tell(kind: string, text: string): void {
    if (trouble !== kind) parts.onTrouble(text);
    trouble = kind;
  }

  async function fail(kind: string, text: string): Promise<void> {
    failures += 1;
    if (!parts.patient && failures >= PATIENCE) throw new UserError(text);
    tell(kind, `${text} Trying again …`);
    await pause(backoffMs(failures, Math.random()));
  }

  async function get(path: string): Promise<ApiAnswer> {
    for (;;) {
      const answer = await attempt(path);
      if (answer instanceof ApiUnreachable) {
        await fail('unreachable', answer.message);
      } else {
        wasReached = true;
        const { status, headers } = answer;
        if (status === 429) {
          const wait = retryAfterMs(headers, new Date());
          tell('429', budgetUsedUp(wait));
          await pause(wait);
        } else if (status >= 500) {
          await fail(
            '5xx',
            `The API at ${baseUrl} answers ${status} (Request-Id ${answer.requestId ?? 'missing'}).`,
          );
        } else {
          failures = 0;
          if (trouble !== undefined) parts.onRecovery();
          trouble = undefined;
          return requireAccepted(answer, path);
        }
      }
    }
  }

  /** @throws UserError when the key is rejected */
  function requireAccepted(answer: ApiAnswer, path: string): ApiAnswer {
    if (answer.status === 401) {
      throw new CommandError('NO_KEY', `The API at ${baseUrl} does not take the key.`);
    }
    if (answer.status === 403) {
      throw new CommandError('NO_KEY', `The key may not read endpoints (${saidBy(answer)}).`);
    }
    if ([200, 400, 404].includes(answer.status)) return answer;
    throw describeUnexpected(answer, path);
  }

  return {
    async endpoints() {
      const endpoints: SandboxEndpoint[] = [];
      let at: number | undefined;
      let cursor: string | null = null;
      do {
        const path = createPagePath('/api/v1/webhooks', cursor);
        const answer = await get(path);
        if (answer.status !== 200) throw describeUnexpected(answer, path);
        const { data, nextCursor } = readBody(Endpoints, answer, `GET ${path}`);
        // Endpoints created while later pages are read must count as created afterwards.
        at ??= Date.parse(answer.headers.get('date') ?? '');
        endpoints.push(...data);
        cursor = nextCursor;
      } while (cursor !== null);
      return { endpoints, at: Number.isNaN(at) ? Date.now() : at };
    },

    async deliveries(webhookId, cursor) {
      const path = `${createPagePath(`/api/v1/webhooks/${webhookId}/deliveries`, cursor ?? null)}&include=request`;
      const answer = await get(path);
      if (answer.status === 404 || (answer.status === 400 && cursor !== undefined)) return undefined;
      if (answer.status !== 200) throw describeUnexpected(answer, path);
      const { data, nextCursor } = readBody(Deliveries, answer, `GET ${path}`);
      return {
        deliveries: data.map(({ status, request, ...delivery }) => ({
          ...delivery,
          request: request ?? undefined,
          state: request ? 'attempted' : OPEN.includes(status) ? 'waiting' : 'ended',
        })),
        next: nextCursor ?? undefined,
      };
    },
  };
}

function budgetUsedUp(waitMs: number): string {
  return `The sandbox's requests of this minute are used up, your own calls included. Waiting ${Math.ceil(waitMs / 1000)} s …`;
}

function describeUnexpected(answer: ApiAnswer, path: string): UserError {
  return new UserError(
    `GET ${path} answered ${answer.status} (${saidBy(answer)}; Request-Id ${answer.requestId ?? 'missing'}).`,
  );
}

function createPagePath(path: string, cursor: string | null): string {
  return `${path}?limit=${PAGE}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
}
