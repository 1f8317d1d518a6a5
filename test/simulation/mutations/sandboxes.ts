import { inFile, type Mutation } from './mutation.ts';

/**
 * Mutations of the separation of sandboxes from live organizations, and of old generations from current ones.
 */
export const SANDBOXES: readonly Mutation[] = [
  ...inFile('functions/tenancy/gate.ts', [
    {
      name: 'the gate is open when an organization is not found',
      find: 'if (!state.success) throw new GateClosed(`the state of ${orgId} is missing or contradictory`);',
      replace: "if (!state.success) return 'live';",
      breaks: ['the sandbox is closed'],
    },
    {
      name: 'the gate lets sandboxes out',
      find: "(await readEnvironment(orgId)) === 'live' ?",
      replace: '(await readEnvironment(orgId)) ?',
      breaks: ['the sandbox is closed'],
    },
  ]),
  ...inFile('functions/tenancy/organizations.ts', [
    {
      name: 'the state of every organization is cached',
      find: "if (state?.environment === 'live') live",
      replace: 'if (state !== undefined) live',
      breaks: ['no work after a reset'],
    },
  ]),
  ...inFile('functions/delivery/fan-out.ts', [
    {
      name: 'the fan-out adds deliveries of deleted data',
      find: "work.deliveryMessage)) === 'over')",
      replace: 'work.deliveryMessage)) === undefined)',
      breaks: ['no work after a reset', 'complete purge'],
    },
  ]),
  ...inFile('functions/delivery/dispatch.ts', [
    {
      name: 'the dispatcher attempts deliveries of deleted data',
      find: "result.value === 'current';",
      replace: 'result.value !== undefined;',
      breaks: ['no work after a reset'],
    },
    {
      name: 'the dispatcher deletes the message of an organization that it cannot read',
      find: 'new Set(unknown)',
      replace: 'new Set(unknown.slice(0, 0))',
      breaks: ['nothing lost'],
    },
  ]),
  ...inFile('functions/delivery/ledger-updates.ts', [
    {
      name: 'delivery-stream counts deleted data',
      find: "states.get(change) === 'current'",
      replace: "states.get(change) !== 'unknown'",
      breaks: ['no work after a reset', 'complete purge'],
    },
    {
      name: 'the audit judges deleted data',
      find: 'if (await isDeleted(entry)) return;',
      replace: '',
      breaks: ['true ledger', 'no work after a reset'],
      firstSeed: 265,
    },
  ]),
  ...inFile('functions/delivery/settle.ts', [
    {
      name: 'the end of a deleted delivery counts at its endpoint',
      find: '        ...buildCurrentCondition(service, { orgId, generation }),\n',
      replace: '',
      breaks: ['exact count'],
      firstSeed: 200,
    },
  ]),
  ...inFile('functions/tenancy/purge.ts', [
    {
      name: 'a purge begins before its linger time is over',
      find: 'isSettled(order, now(), lingerSeconds)',
      replace: 'isSettled(order, now(), 0 * lingerSeconds)',
      breaks: ['complete purge'],
    },
    {
      name: 'a purge deletes only one page of a table',
      find: 'return { order, table: remains.indexOf(rows) };',
      replace: 'return { order, table: remains.indexOf(rows) + 1 };',
      breaks: ['complete purge'],
    },
    {
      name: 'a purge deletes the generation after its own',
      find: 'await rows.find(order, PAGE);',
      replace: 'await rows.find({ ...order, generation: order.generation + 1 }, PAGE);',
      breaks: ['nothing else is purged', 'complete purge'],
    },
    {
      name: 'the progress of a purge restores it',
      find: '${deleted}`, if: EXISTS });',
      replace: '${deleted}` });',
      breaks: ['complete purge'],
    },
  ]),
  ...inFile('functions/delivery/simulation.ts', [
    {
      name: 'a live endpoint has the speed in its URL',
      find: 'isSandbox(tenant) ? parseProgram(url) : DEFAULT',
      replace: 'parseProgram(url)',
      breaks: ['not before its time', 'as programmed'],
    },
    {
      name: 'a simulated receiver does the same at every attempt',
      find: 'steps[Math.min(attempt, steps.length) - 1]',
      replace: 'steps[0]',
      breaks: ['as programmed'],
    },
  ]),
];
