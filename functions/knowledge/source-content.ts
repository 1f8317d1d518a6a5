import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { OrgId } from '../aws/ids.ts';
import { AttemptErrorCode } from '../delivery/delivery.ts';
import { parseProgram, simulate } from '../delivery/simulation.ts';
import { FETCH_TIMEOUT_SECONDS } from '../delivery/timing.ts';
import { SourceKind } from '../events/bus.ts';
import type { Gate, Permit } from '../tenancy/gate.ts';
import { type OrganizationStates, UnknownTenant } from '../tenancy/organizations.ts';
import { OrganizationState } from '../tenancy/tenant.ts';
import { type Source, TextProperties } from './sources.ts';
import { isTooLarge, MAX_TEXT_BYTES, type Reading } from './text.ts';

/** Fetched content. */
export interface Content {
  body: Uint8Array;
  /** `Content-Type` of the response. */
  contentType?: string | undefined;
  /** How the text of the page was chosen at its previous reading. */
  choice?: string | undefined;
}

/** `problem`: one line of English. */
export type Extraction = ({ ok: true } & Reading) | { ok: false; problem: string };

/** What a check finds at a source's URL. */
export const CheckFinding = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('fetched'), text: z.string(), ...TextProperties.shape }),
  z.object({ kind: z.literal('not-modified') }),
  /** `error`: one line for the source's owner. */
  z.object({
    kind: z.literal('failed'),
    error: z.string(),
    errorCode: z._default(AttemptErrorCode, 'invalid_response'),
  }),
]);
export type CheckFinding = z.infer<typeof CheckFinding>;

/** A response came whose content cannot be used. @param error one line for the source's owner */
export const unusable = (error: string): CheckFinding & { kind: 'failed' } => ({
  kind: 'failed',
  errorCode: 'invalid_response',
  error,
});

/** What the extraction function is given: one source. Its credentials reach no data of the service. */
export const ExtractionRequest = z.object({
  orgId: OrgId,
  /** As the gate of the caller read it; the function's own gate decides by it again. */
  organization: OrganizationState,
  kind: SourceKind,
  url: z.string(),
  etag: z.optional(z.string()),
  lastModified: z.optional(z.string()),
  choice: z.optional(z.string()),
  /** Hosts that the operator blocked. */
  blockedHosts: z.array(z.string()),
});
export type ExtractionRequest = z.infer<typeof ExtractionRequest>;

/**
 * Fetches and extracts one document in a function of its own.
 * @throws NotPermitted without a permit of the gate, and the error of an invocation that did not start
 */
export type Extract = (request: ExtractionRequest, permit: Permit) => Promise<CheckFinding>;

/**
 * Returns the text at a source's URL, unless it is unchanged. A sandbox does not fetch: the program in the
 * URL determines the text.
 */
export function sourceContent({
  gate,
  organizations,
  blockedHosts,
  extract,
}: {
  gate: Gate;
  organizations: OrganizationStates;
  blockedHosts(): Promise<readonly string[]>;
  extract: Extract;
}) {
  return (source: Source): Promise<CheckFinding> =>
    gate<CheckFinding>(source.orgId, {
      sandbox: async () => simulateContent(source.url, source.checks + 1),
      live: async (permit) => {
        const { orgId, kind, url, content } = source;
        const organization = await organizations.of(orgId);
        if (organization === undefined) throw new UnknownTenant(`there is no organization ${orgId}`);
        const { etag, lastModified, choice } = content ?? {};
        const hosts = [...(await blockedHosts())];
        const request = { orgId, organization, kind, url, etag, lastModified, choice, blockedHosts: hosts };
        const finding = await extract(request, permit);
        return finding.kind === 'fetched' && isTooLarge(finding.text)
          ? unusable(`the text is larger than ${MAX_TEXT_BYTES} bytes`)
          : finding;
      },
    });
}

const WORDS = 60;

/**
 * Simulates a check of a sandbox's source by the program in its URL, without a request or a wait. Each check
 * takes the next step, and the last one stays. 200 returns a text unique to the step, 304 is unchanged,
 * anything else fails.
 * @param check number of this check, from 1
 */
export function simulateContent(url: string, check: number): CheckFinding {
  const program = parseProgram(url);
  const answer = simulate(program, check, FETCH_TIMEOUT_SECONDS * 1000);
  if ('error' in answer) return { kind: 'failed', errorCode: answer.errorCode, error: answer.error };
  if (answer.status === 304) return { kind: 'not-modified' };
  if (answer.status !== 200)
    return { kind: 'failed', errorCode: 'http_status', error: `the server answered ${answer.status}` };
  const step = Math.min(check, program.steps.length);
  return { kind: 'fetched', title: `Simulated content ${step}`, text: generateText(url, step) };
}

/** Words that are those of one step of one URL, always the same. */
const generateText = (url: string, step: number): string =>
  Array.from({ length: WORDS }, (_, index) =>
    createHash('sha256')
      .update(`${url}/${step}/${index}`)
      .digest('hex')
      .slice(0, 12)
      .replaceAll(/\d/g, toLetter),
  ).join(' ');

const toLetter = (digit: string): string => 'ghijklmnop'.charAt(Number(digit));
