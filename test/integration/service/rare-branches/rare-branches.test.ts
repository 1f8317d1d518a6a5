import type { FunctionFault, UsedPermission } from 'aws-local/functions/functions.ts';
import { until } from 'aws-local/test/until.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '../../../support/service.ts';
import { aPlace } from '../place.ts';
import { failedRequests } from '../stacks/faults.ts';
import { WITHOUT_WAITS } from '../stacks/settings.ts';
import { type Branch, FAULTS, rareBranches } from './branches.ts';
import { ELSEWHERE, type Ran } from './elsewhere.ts';
import { provocations } from './provocations.ts';

/*
 * Branches that a request takes only after DynamoDB errors that the embedded engine never returns, or for a
 * slow endpoint: each runs here once under the role of its function. Nothing else may use these functions
 * meanwhile, because the requests after a fault are compared.
 */
const place = aPlace({ settings: WITHOUT_WAITS, faults: FAULTS });
afterAll(() => expect(failedRequests(place.log())).toEqual([]));

describe('rare branches', () => {
  const ran: Ran[] = ELSEWHERE.slice();
  const provoke = provocations(place);

  beforeAll(async () => {
    await provoke.prepare();
    await place.service().startFaults();
  });

  it.each(rareBranches(provoke).map((branch) => [branch.fn, branch.branch, branch] as const))(
    '%s has the permissions for: %s',
    async (fn, _, branch) => {
      const reports = () => place.service().reports(fn);
      await branch.prepare?.();
      const since = reports().length;
      const find = () => usedIn(branch, reports(), since).find((used) => includesAll(used, branch.actions));
      // An earlier branch may have used up the fault; then this branch has run already.
      if (branch.fault === undefined || find() === undefined) await branch.provoke();
      // A report may arrive after the answer.
      const used = await until(`requests with ${branch.actions.join(', ')}`, find);
      expect(used.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
      ran.push({ ...branch, where: 'here' });
    },
    120_000,
  );

  afterAll(async () => {
    await place.service().stopFaults();
    const rows = ran
      .toSorted((a, b) => a.fn.localeCompare(b.fn))
      .map(({ branch, fn, actions, where }) => `${fn} | ${branch} | ${actions.join(', ')} | ${where}`);
    process.stdout.write(`function | branch | actions after it | where it ran\n${rows.join('\n')}\n`);
  });
});

/** Shortens `dynamodb:GetItem` on a table's ARN to `GetItem Service`. */
function formatPermission({ action, resource }: UsedPermission): string {
  const [, queueOrTable, secret] =
    /(?:Tables|Delivery|Bus)([A-Z][a-z]+)|((?:Cursor|Signing)Keys)/.exec(resource) ?? [];
  return `${action.split(':')[1]} ${queueOrTable ?? secret ?? resource}`;
}

const isFault = (report: Report): report is FunctionFault => 'fault' in report;

/** Maximum of other requests of the function in between. */
const OTHERS = 3;

/**
 * The permissions that the function used after each start of the branch: after its faults, or from the given
 * report on when it has none.
 */
function usedIn({ fault, actions }: Branch, reports: readonly Report[], since: number): UsedPermission[][] {
  const usedFrom = (start: number) =>
    reports
      .slice(start)
      .filter((report) => 'action' in report)
      // A transaction uses one permission for each of its writes.
      .filter(
        (report, index, all) =>
          formatPermission(report) !== (index > 0 && formatPermission(all[index - 1] ?? report)),
      );
  if (fault === undefined) return [usedFrom(since)];
  const [operation, kind, times = 1] = fault;
  let inRow = 0;
  return reports.flatMap((report, index) => {
    if (!isFault(report)) return [];
    inRow = report.operation === operation && report.fault === kind ? inRow + 1 : 0;
    return inRow >= times ? [usedFrom(index + 1).slice(0, actions.length + OTHERS)] : [];
  });
}

/** Whether all actions are used, repeated ones as often as named. */
function includesAll(used: readonly UsedPermission[], actions: readonly string[]): boolean {
  const names = used.map(formatPermission);
  const countOf = (all: readonly string[], name: string) => all.filter((one) => one === name).length;
  return actions.every((action) => countOf(names, action) >= countOf(actions, action));
}
