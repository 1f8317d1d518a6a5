import { VirtualClock } from 'aws-local/test/virtual-clock.ts';
import { newId, type OrgId } from '../../functions/aws/ids.ts';
import { MAIL_LEASE_SECONDS, MAIL_TIMEOUT_SECONDS } from '../../functions/delivery/timing.ts';
import type { BusEvent } from '../../functions/events/bus.ts';
import { sourceStore } from '../../functions/knowledge/sources.ts';
import type { Mail, MailBudgets, MailKind } from '../../functions/notices/mail.ts';
import { mailBudgets, mailingStore } from '../../functions/notices/mailings.ts';
import { type MailResult, notifyAdmins } from '../../functions/notices/notify.ts';
import { gate } from '../../functions/tenancy/gate.ts';
import { LIVE_GENERATION } from '../../functions/tenancy/tenant.ts';
import { anEndpoint, anOrganization, aSource, NOW } from '../builders.ts';
import { MemoryTables } from '../doubles/tables/memory-tables.ts';
import { TABLE_DEFINITIONS } from '../table-definitions.ts';
import { pass } from './calls.ts';
import { conflictOf } from './clients.ts';
import { brokenBy, logTo } from './failures.ts';
import { CALL_FAULTS, type CallFault } from './faults.ts';
import { LetterBox } from './letter-box.ts';
import { within } from './node.ts';
import { type Process, Processes, type Stop, settled } from './processes.ts';
import type { PromiseName, Violation } from './promises.ts';
import { Random } from './random.ts';
import type { Statistics } from './statistics.ts';

/** What each kind of notice is about, always something else. */
const DATA: Record<MailKind, () => BusEvent['data']> = {
  'source.changed': () => ({
    ...{ sourceId: newId('src', NOW), kind: 'url', version: 2, difference: 40, added: '', removed: '' },
    url: `https://www.example.com/${newId('src', NOW)}`,
  }),
  'webhook.failing': () => ({ webhookId: newId('whk', NOW), lastError: 'the receiver answered 500' }),
  'webhook.disabled': () => ({ webhookId: newId('whk', NOW), disabledAt: NOW.toISOString(), lastError: '' }),
};
const KINDS = Object.keys(DATA) as MailKind[];

const DAY_SECONDS = 86_400;
/** How often a call has a fault. */
const FAULTY = 0.1;
const FAULTS = Object.keys(CALL_FAULTS) as CallFault[];
/** Maximum of milliseconds between two steps. */
const STEP_MS = 30;
/** Steps after which a run counts as endless. */
const MOST_STEPS = 10_000;
/** How often an event comes between two steps. */
const NEW = 0.1;
/** Seconds between two events. */
const PAUSES = [0, 0, 1, 60, 20_000];

/** A notice, and what became of it. */
interface Notified {
  event: BusEvent;
  kind: MailKind;
  /** UTC days in which it was worked on, and in which it may have taken its part of a budget. */
  days: Set<string>;
  paid: Set<string>;
  /** Whether a run of it did not end as it should. */
  isDisturbed: boolean;
  /** Everybody who has it. */
  recipients: Set<string>;
}

/**
 * Notifies admins of many events in two days with faults at all calls, and checks the budgets of e-mail
 * (docs/specification.md).
 * @returns the broken promise
 */
export function mail(
  random: Random,
  statistics: Statistics,
  trace: (line: string) => void = () => undefined,
): Promise<Violation | undefined> {
  const clock = new VirtualClock(new Date(NOW.getTime() + random.below(DAY_SECONDS) * 1000));
  const run = new MailRun(random, clock, statistics, trace);
  const jitter = new Random(random.below(2 ** 31));
  return within({ sleep: (ms) => run.processes.pause(ms), random: () => jitter.next() }, () => run.run());
}

class MailRun {
  readonly processes: Processes;
  readonly #random: Random;
  readonly #clock: VirtualClock;
  readonly #statistics: Statistics;
  readonly #trace: (line: string) => void;
  readonly #memory = new MemoryTables(TABLE_DEFINITIONS);
  readonly #budgets: MailBudgets;
  readonly #admins: ReadonlyMap<OrgId, readonly string[]>;
  readonly #letters = new LetterBox<Notified>(6 * MAIL_TIMEOUT_SECONDS);
  readonly #notified: Notified[] = [];
  /** Recipients that were counted for an organization, kind and day. */
  readonly #sums = new Map<string, number>();
  #violation: Violation | undefined;

  constructor(random: Random, clock: VirtualClock, statistics: Statistics, trace: (line: string) => void) {
    this.processes = new Processes(clock);
    this.#random = random;
    this.#clock = clock;
    this.#statistics = statistics;
    this.#trace = trace;
    // Small ones, so that few e-mails use them up.
    const organization = () => random.between(1, 4);
    this.#budgets = {
      'source.changed': { organization: organization(), stage: random.pick([4, 12, 1000]) },
      'webhook.failing': { organization: organization() },
      'webhook.disabled': { organization: organization() },
    };
    // More than fifty are two groups.
    this.#admins = new Map(
      Array.from({ length: random.between(1, 2) }, () => {
        const length = random.pick([1, 1, 2, 3, 51]);
        return [newId('org', NOW), Array.from({ length }, (_, index) => `admin${index}@example.com`)];
      }),
    );
  }

  async run(): Promise<Violation | undefined> {
    const { stops } = this.processes;
    let left = this.#random.between(3, 14);
    let steps = 0;
    while (this.#violation === undefined && left + stops.length + this.#letters.contents.length > 0) {
      steps += 1;
      if (steps > MOST_STEPS) this.#tell('comes to rest', `e-mails were not done after ${MOST_STEPS} steps`);
      this.#clock.elapseUntil(new Date(this.#clock.ms + this.#random.below(STEP_MS)));
      for (const process of this.processes.overdue()) this.processes.lose(process);
      const [ready, isNew] = [this.#readyStops(), left > 0 && this.#random.chance(NEW)];
      const stop = isNew ? undefined : ready[this.#random.below(ready.length + 1)];
      if (stop !== undefined) await this.#goOn(stop, left > 0);
      else if (!isNew && this.#letters.waits(this.#clock.ms)) await this.#notify();
      else if (isNew || (left > 0 && ready.length === 0)) {
        left -= 1;
        // No function runs so long.
        if (stops.length === 0) this.#clock.elapse(this.#random.pick(PAUSES));
        this.#happens();
      } else if (ready.length === 0) this.#waitForNext();
    }
    return this.#violation ?? this.#faultAtRest();
  }

  #readyStops(): Stop[] {
    return this.processes.stops.filter(({ readyAt }) => readyAt <= this.#clock.ms);
  }

  async #goOn(stop: Stop, isTroubled: boolean): Promise<void> {
    const isFaulty = isTroubled && !stop.isTime && this.#random.chance(FAULTY);
    const fate = isFaulty ? this.#random.pick(FAULTS) : 'goes-on';
    this.#trace(`${stop.process.name}  ${stop.call} ${fate}`);
    if (fate === 'ends') this.processes.lose(stop.process);
    else await this.processes.letOn(stop, fate);
  }

  #waitForNext(): void {
    const times = [...this.processes.live].map(({ deadline }) => deadline);
    for (const { readyAt } of this.processes.stops) times.push(readyAt);
    const next = Math.min(this.#letters.nextMs(), ...times.filter((ms) => ms > this.#clock.ms));
    this.#clock.elapseUntil(new Date(next));
  }

  #happens(): void {
    const kind = this.#random.pick(KINDS);
    const orgId = this.#random.pick([...this.#admins.keys()]);
    const id = `event ${this.#notified.length + 1}`;
    const createdAt = this.#clock.now().toISOString();
    const event = { id, type: kind, orgId, generation: LIVE_GENERATION, createdAt, data: DATA[kind]() };
    const notified: Notified = {
      ...{ event, kind, days: new Set(), paid: new Set(), isDisturbed: false, recipients: new Set() },
    };
    this.#notified.push(notified);
    this.#statistics.count(`notices: ${kind}`);
    // The bus may deliver an event twice.
    for (let times = this.#random.pick([1, 1, 1, 2]); times > 0; times -= 1)
      this.#letters.send(notified, this.#clock.ms);
    this.#trace(`${id}: ${kind} of an organization with ${this.#adminsOf(notified).length} admins`);
  }

  async #notify(): Promise<void> {
    const letter = this.#letters.receive(this.#clock.ms);
    if (letter === undefined) return;
    const { content: notified } = letter;
    const process = this.processes.start('notify', 0);
    process.deadline = this.#clock.ms + MAIL_TIMEOUT_SECONDS * 1000;
    let isOver = false;
    const end = (isDisturbed: boolean) => {
      if (isOver) return;
      isOver = true;
      const days = this.#daysOf(process);
      for (const day of days) notified.days.add(day);
      if (isDisturbed) for (const day of days) notified.paid.add(day);
      notified.isDisturbed ||= isDisturbed;
    };
    process.whenLost = () => end(true);
    this.#runOf(
      process,
      notified,
    )(notified.event).then(
      () => {
        end(process.isDisturbed);
        this.#letters.remove(letter);
        this.processes.lose(process);
      },
      (error: unknown) => {
        const promise = brokenBy(error);
        if (promise !== undefined) this.#tell(promise, `${process.name}: ${error}`);
        this.processes.lose(process);
      },
    );
    await settled();
  }

  /** The notifier over the service's own stores of e-mails. */
  #runOf(process: Process, notified: Notified) {
    const client = this.#memory.client((name, input, effect) =>
      this.#pass(process, name, effect, () => conflictOf(name, input)),
    );
    const mailings = this.#memory.table('mailings', client);
    const send = async (message: Mail): Promise<MailResult> => {
      let isSent = false;
      const effect = () => {
        // The client of SES does not repeat a request.
        if (!isSent) this.#sent(process, notified, message.to);
        isSent = true;
      };
      return this.#pass(process, 'an e-mail', effect).then(
        () => ({ kind: 'sent' }),
        () => ({ kind: isSent ? 'unknown' : 'refused', reason: 'a fault' }),
      );
    };
    return notifyAdmins(
      {
        gate: gate(async () => ({ environment: 'live', tier: 'standard', generation: LIVE_GENERATION })),
        organizations: { find: async (id) => anOrganization({ id }) },
        endpoints: { find: async () => anEndpoint({ consecutiveFailures: 5 }) },
        sources: { ...sourceStore(this.#memory.table('knowledge', client)), find: async () => aSource() },
        mailings: mailingStore(mailings),
        budgets: mailBudgets(mailings, this.#budgets),
        directory: { adminsOf: async (orgId) => this.#admins.get(orgId) ?? [] },
        mailer: { send },
        count: (what) => this.#statistics.count(`e-mails: ${what}`),
        log: logTo((line) => this.#trace(`${process.name}  logs: ${line} of ${notified.event.id}`)),
        now: () => process.now(),
      },
      {
        dashboardOrigin: 'https://example.com',
        noticeSeconds: DAY_SECONDS,
        leaseSeconds: MAIL_LEASE_SECONDS,
      },
    );
  }

  #pass(process: Process, name: string, effect: () => unknown, conflict?: () => Error | undefined) {
    const world = { processes: this.processes, random: this.#random, trace: undefined };
    return pass(world, { process, name, effect, ...(conflict && { conflict }) });
  }

  #tell(promise: PromiseName, detail: string): void {
    this.#violation ??= { promise, detail };
  }

  #adminsOf({ event: { orgId } }: Notified): readonly string[] {
    return this.#admins.get(orgId) ?? [];
  }

  /** Today, and the day in which the process began. */
  #daysOf(process: Process): string[] {
    return [process.startedMs, this.#clock.ms].map((ms) => new Date(ms).toISOString().slice(0, 10));
  }

  /** An e-mail reaches a group of recipients. */
  #sent(process: Process, notified: Notified, to: readonly string[]): void {
    const { event, kind, recipients, paid } = notified;
    const days = this.#daysOf(process);
    for (const day of days) paid.add(day);
    const isFirst = recipients.size === 0 && to[0] === this.#adminsOf(notified)[0];
    for (const address of to) {
      if (recipients.has(address)) this.#tell('one e-mail', `${address} got ${event.id} twice`);
      recipients.add(address);
    }
    // One that is sent around midnight is of either day; the second group is of the day of the first.
    const [day = ''] = days;
    if (!isFirst || day !== days[1]) return;
    const name = `${event.orgId} ${kind} ${day}`;
    const others = this.#sums.get(name) ?? 0;
    const sum = others + this.#adminsOf(notified).length;
    this.#sums.set(name, sum);
    if (others > 0 && sum > this.#budgets[kind].organization)
      this.#tell('quota of e-mail', `${event.id} is the e-mail with which ${kind} has ${sum} recipients`);
  }

  #faultAtRest(): Violation | undefined {
    for (const notified of this.#notified) {
      const { event, kind, recipients, isDisturbed } = notified;
      const lacking = this.#adminsOf(notified).length - recipients.size;
      if (isDisturbed || lacking === 0) continue;
      if (recipients.size > 0)
        return { promise: 'one e-mail', detail: `${lacking} admins did not get ${event.id}` };
      if (![...notified.days].some((day) => this.#isUsedUp(notified, day)))
        return {
          promise: 'quota of e-mail',
          detail: `${event.id} was left out, and ${kind} was not used up`,
        };
    }
    return undefined;
  }

  /** Whether an e-mail did not fit into a budget of a day, with all that may have been taken from it. */
  #isUsedUp(notified: Notified, day: string): boolean {
    const { event, kind } = notified;
    const { organization, stage = Number.POSITIVE_INFINITY } = this.#budgets[kind];
    const sumOf = (others: readonly Notified[]) =>
      others.reduce((sum, other) => sum + this.#adminsOf(other).length, 0);
    const all = this.#notified.filter((other) => other !== notified && other.paid.has(day));
    const own = sumOf(all.filter((other) => other.kind === kind && other.event.orgId === event.orgId));
    const length = this.#adminsOf(notified).length;
    return (own > 0 && own + length > organization) || sumOf(all) + length > stage;
  }
}
