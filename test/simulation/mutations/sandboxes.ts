import type { Mutation } from './mutation.ts';

const PURGE = 'functions/tenancy/purge.ts';
const WATCH = 'functions/delivery/ledger-updates.ts';
const GATE = 'functions/tenancy/gate.ts';
const DISPATCHER = 'functions/delivery/dispatch.ts';
const STATES = 'functions/tenancy/organizations.ts';

/**
 * Mutations of the separation of sandboxes from live organizations, and of old generations from current ones.
 */
export const SANDBOXES: readonly Mutation[] = [
  {
    name: 'the gate is open when an organization is not found',
    file: GATE,
    find: 'if (!state.success) throw new GateClosed(`the state of ${orgId} is missing or contradictory`);',
    replace: "if (!state.success) return 'live';",
    breaks: ['the sandbox is closed'],
  },
  {
    name: 'the gate is open when an organization cannot be read',
    file: GATE,
    find: 'throw new GateClosed(`the state of ${orgId} could not be read`, { cause });',
    replace: "return 'live';",
    breaks: ['the sandbox is closed'],
  },
  {
    name: 'the gate lets sandboxes out',
    file: GATE,
    find: "(await readEnvironment(orgId)) === 'live' ?",
    replace: '(await readEnvironment(orgId)) ?',
    breaks: ['the sandbox is closed'],
  },
  {
    name: 'the state of every organization is cached',
    file: STATES,
    find: "if (state?.environment === 'live') live",
    replace: 'if (state !== undefined) live',
    breaks: ['no work after a reset'],
  },
  {
    name: 'the fan-out adds deliveries of deleted data',
    file: 'functions/delivery/fan-out.ts',
    find: "work.deliveryMessage)) === 'over')",
    replace: 'work.deliveryMessage)) === undefined)',
    breaks: ['no work after a reset', 'complete purge'],
  },
  {
    name: 'the dispatcher attempts deliveries of deleted data',
    file: DISPATCHER,
    find: "result.value === 'current';",
    replace: 'result.value !== undefined;',
    breaks: ['no work after a reset'],
  },
  {
    name: 'the dispatcher reads for deliveries of deleted data',
    file: DISPATCHER,
    find: 'contexts(current.map(',
    replace: 'contexts(messages.map(',
    breaks: ['no work after a reset'],
  },
  {
    name: 'the dispatcher deletes the message of an organization that it cannot read',
    file: DISPATCHER,
    find: 'new Set(unknown)',
    replace: 'new Set(unknown.slice(0, 0))',
    breaks: ['nothing lost'],
  },
  {
    name: 'delivery-stream counts deleted data',
    file: WATCH,
    find: "states.get(change) === 'current'",
    replace: "states.get(change) !== 'unknown'",
    breaks: ['no work after a reset', 'complete purge'],
  },
  {
    name: 'delivery-stream ignores deliveries whose organization it does not find',
    file: WATCH,
    find: "['current', 'unknown'].includes(",
    replace: "['current'].includes(",
    breaks: ['nothing lost'],
  },
  {
    name: 'the audit judges deleted data',
    file: 'functions/delivery/ledger-updates.ts',
    find: 'if (await isDeleted(entry)) return;',
    replace: '',
    breaks: ['true ledger', 'no work after a reset'],
    firstSeed: 265,
  },
  {
    name: 'the end of a deleted delivery counts at its endpoint',
    file: 'functions/delivery/settle.ts',
    find: '        ...buildCurrentCondition(service, { orgId, generation }),\n',
    replace: '',
    breaks: ['exact count'],
    firstSeed: 200,
  },
  {
    name: 'a purge begins before its linger time is over',
    file: PURGE,
    find: 'isSettled(order, now(), lingerSeconds)',
    replace: 'isSettled(order, now(), 0 * lingerSeconds)',
    breaks: ['complete purge'],
  },
  {
    name: 'a purge deletes only one page of a table',
    file: PURGE,
    find: 'return { order, table: remains.indexOf(rows) };',
    replace: 'return { order, table: remains.indexOf(rows) + 1 };',
    breaks: ['complete purge'],
  },
  {
    name: 'a purge leaves out a table',
    file: PURGE,
    find: 'of remains.slice(table)) {',
    replace: 'of remains.slice(table + 1)) {',
    breaks: ['complete purge'],
  },
  {
    name: 'a purge deletes the generation after its own',
    file: PURGE,
    find: 'await rows.find(order, PAGE);',
    replace: 'await rows.find({ ...order, generation: order.generation + 1 }, PAGE);',
    breaks: ['nothing else is purged', 'complete purge'],
  },
  {
    name: 'a purge finds the rows of the next generation',
    file: PURGE,
    find: 'ofSandbox = ${buildTenantKey(tenant)}`',
    replace: 'ofSandbox = ${buildTenantKey({ ...tenant, generation: tenant.generation + 1 })}`',
    breaks: ['nothing else is purged', 'complete purge'],
  },
  {
    name: 'the progress of a purge restores it',
    file: PURGE,
    find: '${deleted}`, if: EXISTS });',
    replace: '${deleted}` });',
    breaks: ['complete purge'],
  },
  {
    name: 'a live endpoint has the speed in its URL',
    file: 'functions/delivery/simulation.ts',
    find: 'isSandbox(tenant) ? parseProgram(url) : DEFAULT',
    replace: 'parseProgram(url)',
    breaks: ['not before its time', 'as programmed'],
  },
  {
    name: 'a simulated receiver does the same at every attempt',
    file: 'functions/delivery/simulation.ts',
    find: 'steps[Math.min(attempt, steps.length) - 1]',
    replace: 'steps[0]',
    breaks: ['as programmed'],
  },
];
