import { describe, expect, it } from 'vitest';
import { ApiFailure } from '../../../dashboard/src/api/failures.ts';
import { ADA, EVE, HOUR_MS, Place, settle } from './browser-fixture.ts';

const MINUTE_MS = 60_000;
const RENEWAL = 'POST /api/session/renewal';

/** Whether a promise has settled, and how. */
function watched(promise: Promise<unknown>): { outcome: 'waits' | 'done' | 'failed' } {
  const seen: { outcome: 'waits' | 'done' | 'failed' } = { outcome: 'waits' };
  promise.then(
    () => {
      seen.outcome = 'done';
    },
    () => {
      seen.outcome = 'failed';
    },
  );
  return seen;
}

describe('a session', () => {
  it('is loaded, and renewed before it expires, for as long as the issuer permits', async () => {
    const place = new Place();
    place.signIn(ADA);
    const { keeper } = place.open();
    await keeper.look();
    expect(keeper.state()).toMatchObject({ kind: 'present', person: { userId: 'user-ada' } });
    await place.pass(10 * HOUR_MS);
    expect(keeper.state().kind).toBe('present');
    expect(place.count(RENEWAL)).toBe(10);
  });

  it('is renewed once for several tabs', async () => {
    const place = new Place();
    place.signIn(ADA);
    const tabs = Array.from({ length: 4 }, () => place.open());
    await Promise.all(tabs.map(({ keeper }) => keeper.look()));
    await place.pass(HOUR_MS);
    expect(place.count(RENEWAL)).toBe(1);
    expect(tabs.map(({ keeper }) => keeper.state().kind)).toEqual(tabs.map(() => 'present'));
  });

  it('is used to its end when it cannot be renewed, and then requires a sign-in', async () => {
    const place = new Place();
    place.signIn(ADA, false);
    const { keeper } = place.open();
    await keeper.look();
    await place.pass(HOUR_MS - MINUTE_MS);
    expect(keeper.state().kind).toBe('present');
    expect(place.count(RENEWAL)).toBe(1);
    await place.pass(2 * MINUTE_MS);
    expect(keeper.state()).toMatchObject({ kind: 'ended', person: { userId: 'user-ada' } });
  });

  it.each([503, 429, 'nothing'] as const)(
    'survives %s during its renewal, and is renewed afterwards',
    async (trouble) => {
      const place = new Place();
      place.signIn(ADA);
      const { keeper } = place.open();
      await keeper.look();
      await place.pass(HOUR_MS - 6 * MINUTE_MS);
      place.trouble = trouble;
      await place.pass(3 * MINUTE_MS);
      expect(keeper.state().kind).toBe('present');
      place.trouble = undefined;
      await place.pass(MINUTE_MS);
      expect(keeper.state().kind).toBe('present');
      expect(place.session?.expiresAt).not.toBe(ADA.expiresAt);
    },
  );

  it('is requested again when the service could not be reached at first', async () => {
    const place = new Place();
    place.signIn(ADA);
    place.trouble = 503;
    const { keeper } = place.open();
    void keeper.look();
    await place.pass(MINUTE_MS);
    expect(keeper.state().kind).toBe('unreachable');
    place.trouble = undefined;
    await place.pass(MINUTE_MS);
    expect(keeper.state().kind).toBe('present');
  });

  it('is missing in a browser without a sign-in', async () => {
    const place = new Place();
    const { keeper } = place.open();
    await keeper.look();
    expect(keeper.state()).toEqual({ kind: 'none' });
  });
});

describe('a refused request', () => {
  const ended = async () => {
    const place = new Place();
    place.signIn(ADA, false);
    const tab = place.open();
    await tab.keeper.look();
    place.session = undefined;
    const request = watched(tab.keeper.regained('renewed'));
    await settle();
    expect(tab.keeper.state().kind).toBe('ended');
    expect(request.outcome).toBe('waits');
    return { place, tab, request };
  };

  it('is repeated silently after a renewal', async () => {
    const place = new Place();
    place.signIn(ADA);
    const { keeper } = place.open();
    await keeper.look();
    place.session = undefined;
    await keeper.regained('renewed');
    expect(keeper.state().kind).toBe('present');
  });

  it('is repeated when the same user has signed in again, in any tab', async () => {
    const { place, tab, request } = await ended();
    place.signIn(ADA);
    await tab.keeper.hear('signed-in');
    expect(request.outcome).toBe('done');
    expect(tab.reloads).toBe(0);
  });

  it('is never repeated when another user has signed in', async () => {
    const { place, tab, request } = await ended();
    place.signIn(EVE);
    await tab.keeper.hear('signed-in');
    await place.pass(2 * HOUR_MS);
    expect(tab.reloads).toBe(1);
    expect(tab.keeper.state()).toEqual({ kind: 'leaving' });
    expect(request.outcome).toBe('waits');
    expect(watched(tab.keeper.regained('renewed')).outcome).toBe('waits');
  });

  it('is never repeated when the renewed session belongs to another user', async () => {
    const place = new Place();
    place.signIn(ADA);
    const tab = place.open();
    await tab.keeper.look();
    place.signIn(EVE);
    place.session = undefined;
    const request = watched(tab.keeper.regained('renewed'));
    await settle();
    expect(tab.reloads).toBe(1);
    expect(request.outcome).toBe('waits');
  });

  it("fails, and can be retried, when the session's renewal is uncertain", async () => {
    const place = new Place();
    place.signIn(ADA);
    const { keeper } = place.open();
    await keeper.look();
    place.session = undefined;
    place.trouble = 503;
    const failure = keeper.regained('renewed').catch((error: unknown) => error);
    await place.pass(MINUTE_MS);
    expect(await failure).toBeInstanceOf(ApiFailure);
    expect(keeper.state().kind).toBe('present');
    place.trouble = undefined;
    await keeper.regained('renewed');
    expect(keeper.state().kind).toBe('present');
  });
});

describe('a sign-out', () => {
  it('leaves no data of the user in any tab', async () => {
    const place = new Place();
    place.signIn(ADA);
    const [first, second] = [place.open(), place.open()];
    await Promise.all([first.keeper.look(), second.keeper.look()]);
    expect(await first.keeper.signOut()).toBe('https://issuer.example.com/sign-out');
    await settle();
    expect(first.keeper.state()).toEqual({ kind: 'none' });
    expect(second.keeper.state()).toEqual({ kind: 'leaving' });
    expect(second.reloads).toBe(1);
  });

  it('is not undone by a renewal in progress', async () => {
    const place = new Place();
    place.signIn(ADA);
    const [first, second] = [place.open(), place.open()];
    await Promise.all([first.keeper.look(), second.keeper.look()]);
    place.session = undefined;
    const renewing = watched(second.keeper.regained('renewed'));
    await first.keeper.signOut();
    await settle();
    expect(place.session).toBeUndefined();
    expect(renewing.outcome).not.toBe('failed');
    expect(second.keeper.state().kind).toBe('leaving');
  });

  it('keeps the session when it fails', async () => {
    const place = new Place();
    place.signIn(ADA);
    const { keeper } = place.open();
    await keeper.look();
    place.trouble = 503;
    await expect(keeper.signOut()).rejects.toBeInstanceOf(ApiFailure);
    expect(keeper.state().kind).toBe('present');
  });
});

describe('a sign-in', () => {
  it('is reported to the other tabs', async () => {
    const place = new Place();
    const [first, second] = [place.open(), place.open()];
    await second.keeper.look();
    expect(second.keeper.state().kind).toBe('none');
    place.signIn(ADA);
    expect(await first.keeper.finishSignIn('code', 'state')).toBe('/deliveries');
    await settle();
    expect(second.keeper.state().kind).toBe('present');
  });

  it('is refused for an account whose organization the service does not know', async () => {
    const place = new Place();
    const { keeper } = place.open();
    place.signIn(ADA);
    place.isUnknown = true;
    await expect(keeper.finishSignIn('code', 'state')).rejects.toMatchObject({ type: 'NOT_KNOWN_HERE' });
  });
});
