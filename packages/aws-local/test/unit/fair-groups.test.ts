import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairGroups } from '../../src/engines/fair-groups.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

function groupsAt() {
  const clock = new VirtualClock();
  const groups = new FairGroups(() => clock.ms);
  const receive = (group: string | undefined, count: number) => {
    for (let index = 0; index < count; index += 1) groups.received(group);
  };
  const end = (group: string | undefined, count: number) => {
    for (let index = 0; index < count; index += 1) groups.ended(group);
  };
  return { clock, groups, receive, end };
}

const chosenFrom = (groups: FairGroups, waiting: string[], limit = 10) =>
  groups.choose(waiting, (group) => (group === '' ? undefined : group), limit);

describe('a noisy group', () => {
  it('has at least 30 messages in flight, and more than a tenth of all', () => {
    const { groups, receive } = groupsAt();
    receive(undefined, 261);
    receive('large', 29);
    expect(groups.isNoisy('large')).toBe(false);
    receive('large', 1);
    expect(groups.isNoisy('large')).toBe(true);
    receive(undefined, 9);
    expect(groups.isNoisy('large')).toBe(false);
  });

  it('may also have more than a tenth of the processing time, with any number of messages', () => {
    const { groups, receive, clock } = groupsAt();
    receive('slow', 2);
    receive(undefined, 17);
    clock.elapse(10);
    expect(groups.isNoisy('slow')).toBe(true);
    receive(undefined, 10);
    clock.elapse(1000);
    expect(groups.isNoisy('slow')).toBe(false);
  });

  it('is quiet again some time after its messages have ended', () => {
    const { groups, receive, end, clock } = groupsAt();
    receive('once', 40);
    receive(undefined, 10);
    clock.elapse(10);
    end('once', 40);
    expect(groups.isNoisy('once')).toBe(true);
    clock.elapse(600);
    expect(groups.isNoisy('once')).toBe(false);
  });

  it('does not exist for a message without a group', () => {
    const { groups, receive, clock } = groupsAt();
    receive(undefined, 1000);
    clock.elapse(60);
    expect(groups.isNoisy(undefined)).toBe(false);
  });
});

describe('the messages that a fair queue returns', () => {
  it('are in order while no group is noisy', () => {
    const { groups } = groupsAt();
    expect(chosenFrom(groups, ['a', 'a', 'b', '', 'a'], 4)).toEqual(['a', 'a', 'b', '']);
  });

  it('are those of quiet groups first', () => {
    const { groups, receive } = groupsAt();
    receive('noisy', 40);
    expect(chosenFrom(groups, ['noisy', 'noisy', 'a', 'noisy', '', 'b'], 4)).toEqual(['a', '', 'b', 'noisy']);
  });

  it('are of the noisy group with the fewest in flight where only noisy ones wait', () => {
    const { groups, receive } = groupsAt();
    receive('large', 42);
    receive('small', 40);
    expect(chosenFrom(groups, ['large', 'large', 'small', 'small', 'small', 'small'], 4)).toEqual([
      'small',
      'small',
      'large',
      'small',
    ]);
  });

  it('include every waiting message, quiet groups before noisy ones', () => {
    const names = fc.constantFrom('a', 'b', 'c', '');
    fc.assert(
      fc.property(
        fc.array(names, { maxLength: 30 }),
        fc.array(names, { maxLength: 80 }),
        fc.nat(12),
        (received, waiting, limit) => {
          const { groups, receive } = groupsAt();
          for (const group of received) receive(group || undefined, 4);
          const tagged = waiting.map((group, index) => ({ group: group || undefined, index }));
          const chosen = groups.choose(tagged, ({ group }) => group, limit);
          expect(chosen).toHaveLength(Math.min(limit, waiting.length));
          expect(new Set(chosen).size).toBe(chosen.length);
          const noise = chosen.map(({ group }) => groups.isNoisy(group));
          expect(noise).toEqual(noise.toSorted());
          if (noise.includes(true)) {
            const quiet = tagged.filter(({ group }) => !groups.isNoisy(group));
            expect(chosen).toEqual(expect.arrayContaining(quiet));
          }
        },
      ),
    );
  });
});
