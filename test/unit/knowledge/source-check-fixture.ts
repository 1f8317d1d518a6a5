import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import type { BusEvent } from '../../../functions/events/bus.ts';
import { checkSource } from '../../../functions/knowledge/check-source.ts';
import type { CheckOutcome } from '../../../functions/knowledge/source-checks.ts';
import { checkSlots } from '../../../functions/knowledge/source-checks.ts';
import type { CheckFinding } from '../../../functions/knowledge/source-content.ts';
import type { Source, SourceRef } from '../../../functions/knowledge/sources.ts';
import { aBusEvent, anOrganization, aSource, NOW } from '../../builders.ts';
import { type Gate, interposed } from '../../doubles/interposed.ts';
import { memoryOrganizationStates } from '../../doubles/memory-organization-states.ts';
import { sourcesIn } from '../../doubles/memory-sources.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { memoryTables } from '../../doubles/tables/stack-tables.ts';

export const EVERY_SECONDS = 3600;
export const LEASE_SECONDS = 75;
export const SHARE = 2;

/** Adds nothing to a call. */
const open: Gate = async () => undefined;

/** The source checker over the real stores, with one organization and a page whose content a test sets. */
export function aCheck() {
  const clock = new VirtualClock();
  const tables = memoryTables();
  const sources = sourcesIn(tables);
  const slots = checkSlots(tables.knowledge, SHARE);
  const states = memoryOrganizationStates();
  const log = recordedLog();
  const outcomes: CheckOutcome[] = [];
  const organization = anOrganization();
  let settings = organization;
  let finding: CheckFinding = { kind: 'fetched', text: 'one two three four' };
  let looks = 0;

  /** A worker. @param gate that each of its calls passes */
  const worker = (gate: Gate = open) =>
    checkSource(
      {
        sources: interposed('sources', sources, gate),
        slots: interposed('slots', slots, gate),
        organizations: interposed('organizations', { find: async () => settings }, gate),
        organizationStates: interposed('organizationStates', states, gate),
        fetchContent: interposed(
          'page',
          {
            async look(): Promise<CheckFinding> {
              looks += 1;
              return finding;
            },
          },
          gate,
        ).look,
        onChecked: (outcome) => void outcomes.push(outcome),
        log,
        now: clock.now,
        random: () => 0,
      },
      { checkEverySeconds: EVERY_SECONDS, leaseSeconds: LEASE_SECONDS },
    );

  return {
    clock,
    sources,
    states,
    log,
    outcomes,
    organization,
    worker,
    processMessage: worker(),
    get looks() {
      return looks;
    },
    /** Sets the result of the next checks. */
    finds: (next: CheckFinding) => {
      finding = next;
    },
    shows: (text: string) => {
      finding = { kind: 'fetched', text };
    },
    sets: (changes: Partial<typeof organization>) => {
      settings = { ...settings, ...changes };
    },
    async added(changes: Partial<Source> = {}): Promise<Source> {
      const source = aSource({ orgId: organization.id, ...changes });
      await sources.add(source);
      return source;
    },
    /** Asks for a check of a source, now. */
    event: ({ id, orgId, generation }: SourceRef, createdAt: Date = clock.now()): BusEvent =>
      aBusEvent({
        type: 'source.check',
        orgId,
        generation,
        createdAt: createdAt.toISOString(),
        data: { sourceId: id },
      }),
    deleted: ({ id, orgId, generation }: SourceRef): BusEvent =>
      aBusEvent({
        type: 'source.deleted',
        orgId,
        generation,
        createdAt: NOW.toISOString(),
        data: { sourceId: id },
      }),
  };
}
export type TestCheck = ReturnType<typeof aCheck>;
