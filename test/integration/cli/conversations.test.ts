import { chmod, readFile, stat } from 'node:fs/promises';
import { awaitAssertion } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import { tail } from '../../../packages/cli/src/events/tail.ts';
import { createClient } from '../../../packages/sdk/src/index.ts';
import { aUser } from './conversations.ts';
import { aConversation, aDelivery, anEndpoint, anEvent, idOf } from './fake-organization.ts';

describe('conversations events', () => {
  it('lists events, as lines of JSON with --json', async () => {
    const { api, run } = await aUser();
    api.events.push(anEvent(1), anEvent(2));
    const { code, output } = await run('events', 'list');
    expect(code).toBe(0);
    expect(output).toBe(
      [2, 1]
        .map(
          (n) =>
            `${anEvent(n).createdAt}  conversation.created  ${idOf('evt', n)}  conversationId=${idOf('cnv', n)}\n`,
        )
        .join(''),
    );
    expect((await run('events', 'list', '--limit', '1', '--json')).lines()).toEqual([anEvent(2)]);
  });

  it('shows an event with its payload, deliveries and attempts, and no control characters of others', async () => {
    const { api, run } = await aUser();
    api.events.push(anEvent(1, { conversationId: idOf('cnv', 1), externalUserId: 'ada' }));
    const attempt = { number: 1, startedAt: anEvent(1).createdAt, durationMs: 12, status: 503 };
    const error = 'the receiver answered 503';
    const response = 'Busy\u001b[2J';
    api.deliveries.push(
      aDelivery(1, {
        status: 'retrying',
        attemptLog: [{ ...attempt, error, errorCode: 'http_status', response, request: null }],
      }),
    );
    const { output } = await run('events', 'show', idOf('evt', 1));
    expect(output).toContain('"externalUserId": "ada"');
    expect(output).toMatch(/retrying {2}dlv_1+ {2}→ whk_1+ https:\/\/receiver-1\.example\/hooks/);
    expect(output).toMatch(/1 {3}\S+Z {3}12 ms +503 +http_status +the receiver answered 503/);
    expect(output).not.toContain('\u001b');
    const [shown] = (await run('events', 'show', idOf('evt', 1), '--json')).lines();
    expect(shown).toMatchObject({ id: idOf('evt', 1), deliveries: [{ id: idOf('dlv', 1) }] });
  });

  it('follows the log from a time on, and says how to continue', async () => {
    const { api, start } = await aUser();
    api.events.push(anEvent(1), anEvent(2));
    const tail = start(['events', 'tail', '--since', 'all', '--json']);
    await tail.shows(new RegExp(idOf('evt', 2)));
    tail.stop();
    expect(await tail.ended).toBe(0);
    expect(tail.lines()).toEqual([anEvent(1), anEvent(2)]);
    expect(tail.errors()).toBe('To continue there: conversations events tail --cursor 2\n');
  });

  it('follows the log from now on without gaps, when the API fails for a while, too', async () => {
    const { api } = await aUser();
    const at = (digit: number) => ({ ...anEvent(digit), createdAt: `2026-11-23T15:00:0${digit}.000Z` });
    api.events.push(anEvent(1));
    const client = createClient({ baseUrl: api.url, apiKey: api.key, sleep: async () => undefined });
    const stopped = new AbortController();
    const seen: string[] = [];
    const said: string[] = [];
    const options = {
      types: undefined,
      from: undefined,
      cursor: undefined,
      signal: stopped.signal,
      pollMs: 1,
    };
    const batches = tail(client, {
      ...options,
      onTrouble: (error) => said.push(String(error)),
      onRecovery: () => said.push('recovered'),
    });
    const followed = (async () => {
      for await (const { events } of batches) {
        seen.push(...events.map(({ id }) => id));
        if (events.some(({ id }) => id === idOf('evt', 2))) {
          api.fail(503, 12);
          api.events.push(at(3), at(4));
        }
        if (events.some(({ id }) => id === idOf('evt', 4))) stopped.abort();
      }
    })();
    await awaitAssertion(() => expect(api.calls.length).toBeGreaterThan(1));
    api.events.push(at(2));
    await expect(followed).rejects.toThrow('aborted');
    expect(seen).toEqual([2, 3, 4].map((digit) => idOf('evt', digit)));
    expect(said).toEqual(['ApiError: Try again.', 'recovered']);
  });
});

describe('conversations endpoints', () => {
  it('lists endpoints with their failure state', async () => {
    const { api, run } = await aUser();
    api.endpoints.push(
      anEndpoint(1),
      anEndpoint(2, { consecutiveFailures: 7, failing: { since: null, failuresUntilDisabled: 3 } }),
      anEndpoint(3, { status: 'auto_disabled', disabledAt: '2026-11-20T00:00:00.000Z' }),
    );
    const { output } = await run('endpoints', 'list');
    expect(output).toMatch(/whk_1+ {3}active +https:\/\/receiver-1/);
    expect(output).toContain('failing: 7 in a row, disabled after 3 more');
    expect(output).toContain('disabled 2026-11-20T00:00:00.000Z');
    expect((await run('endpoints', 'list', '--json')).lines()).toHaveLength(3);
  });

  it('shows one with its deliveries by outcome', async () => {
    const { api, run } = await aUser();
    api.endpoints.push(anEndpoint(1));
    const { output } = await run('endpoints', 'show', idOf('whk', 1));
    expect(output).toContain('3 deliveries: 2 succeeded, 0 pending, 1 exhausted, 0 skipped');
  });

  it('pauses one, and resumes it with a job for what was skipped', async () => {
    const { api, run } = await aUser();
    api.endpoints.push(anEndpoint(1, { filter: { channelIds: ['web', 'app'], roles: ['user'] } }));
    const id = idOf('whk', 1);
    expect((await run('endpoints', 'pause', id)).output).toBe(
      `${id} is paused since 2026-11-23T14:26:39.873Z. Its deliveries are skipped until conversations endpoints resume ${id}.\n`,
    );
    expect((await run('endpoints', 'resume', id)).output).toMatch(
      new RegExp(`^${id} is active\\. In 90 seconds .* GET /api/v1/webhooks/${id}/redeliveries/rdj_1+\\n$`),
    );
    expect(api.calls.map(({ body }) => body)).toEqual([{ paused: true }, { paused: false }]);
    expect((await run('endpoints', 'show', id)).output).toMatch(/Filter +channel web, app; role user\n/);
  });
});

describe('conversations conversations', () => {
  it('lists those of a user, and shows one with its messages', async () => {
    const { api, run } = await aUser();
    api.conversations.push(aConversation(1), aConversation(2, { externalUserId: 'bob' }));
    const { lines } = await run('conversations', 'list', '--user', 'bob', '--json');
    expect(lines()).toEqual([aConversation(2, { externalUserId: 'bob' })]);
    const message = { role: 'user', createdAt: aConversation(1).createdAt };
    api.messages.push({ ...message, id: 'msg_1', content: 'Hello\u001b[2J' });
    api.messages.push({ ...message, id: 'msg_2', content: 'Are you\nthere?' });
    const { output } = await run('conversations', 'show', idOf('cnv', 1));
    expect(output).toMatch(/open {2}cnv_1+ {2}channelId=web externalUserId=ada\n/);
    expect(output).toMatch(/user {2}msg_1\n {4}Hello\\u001b\[2J\n[\s\S]*msg_2\n {4}Are you\n {4}there\?/);
    const shown = (await run('conversations', 'show', idOf('cnv', 1), '--limit', '1', '--json')).lines();
    expect(shown).toMatchObject([{ id: idOf('cnv', 1), messages: [{ id: 'msg_2' }] }]);
  });
});

describe('conversations why', () => {
  const absent = (digit: number) => ({
    ...{ webhookId: idOf('whk', digit), url: 'https://a.example/', receiverStatus: 'active' },
    reason: 'not_subscribed',
  });

  it('says of each endpoint why it did or did not receive an event, or of one', async () => {
    const { api, run } = await aUser();
    api.events.push(anEvent(1));
    api.deliveries.push(aDelivery(1));
    api.undelivered.push(absent(2));
    const lines = [
      `${idOf('whk', 1)} received it: attempt 1 was answered 200 at 2026-11-23T14:26:39.873Z.`,
      `${idOf('whk', 2)} did not receive it: it was not subscribed to this event type.`,
    ];
    expect(await run('why', idOf('evt', 1))).toMatchObject({ code: 0, output: `${lines.join('\n')}\n` });
    expect((await run('why', idOf('evt', 1), idOf('whk', 2))).output).toBe(`${lines[1]}\n`);
    expect((await run('why', idOf('evt', 1), '--json')).lines()).toMatchObject([
      { eventId: idOf('evt', 1), receiverId: idOf('whk', 1), outcome: 'received', reason: 'succeeded' },
      { receiverId: idOf('whk', 2), outcome: 'not_received', reason: 'not_subscribed' },
    ]);
    expect((await run('events', 'show', idOf('evt', 1))).output).toContain(`\n\n  ${lines[1]}\n`);
  });

  it('says that an endpoint does not exist, and that a new delivery is being created', async () => {
    const { api, run } = await aUser();
    api.events.push(anEvent(1));
    expect(await run('why', idOf('evt', 1), idOf('whk', 3))).toMatchObject({
      code: 1,
      errors: /^NOT_FOUND: /,
    });
    api.endpoints.push(anEndpoint(3));
    expect((await run('why', idOf('evt', 1), idOf('whk', 3))).output).toContain('is being created');
    expect((await run('why', idOf('evt', 1))).output).toBe('There are no endpoints.\n');
  });
});

describe('conversations recover', () => {
  const jobs = (calls: readonly { call: string; body: unknown }[]) =>
    calls.filter(({ call }) => call.endsWith('/redeliveries')).map(({ body }) => body);

  it('counts first, and needs a yes to resend what was counted', async () => {
    const { api, run, start } = await aUser();
    api.found = 1234;
    const args = ['recover', idOf('whk', 1), '--since', '2h', '--status', 'succeeded'];
    expect(await run(...args)).toMatchObject({ code: 1, errors: 'Not confirmed: give --yes.\n' });
    const recover = start(args, { isTerminal: true });
    await recover.shows(/Resend 1,234 events to whk_1+ at http:\/\/localhost:\d+ \(sandbox\)\? \[y\/N\]/);
    recover.stdin.write('y\r');
    expect(await recover.ended).toBe(0);
    const [, { from, ...counted }, started] = jobs(api.calls) as [unknown, { from: string }, unknown];
    expect(counted).toEqual({ statuses: ['succeeded'], dryRun: true });
    expect(started).toEqual({ from, to: expect.any(String), statuses: ['succeeded'] });
    expect(recover.output()).toMatch(/Resending 1,234 events\. To follow it: .*\/redeliveries\/rdj_1+\n$/);
  });

  it.each([
    ['a dry run', ['--missing', '--dry-run'], 3, /3 events between .*\n.*\n {2}conversation\.created +3\n$/],
    ['nothing to resend', ['--yes'], 0, /^Nothing to resend between /],
  ])('starts no job for %s', async (_, flags, found, shown) => {
    const { api, run } = await aUser();
    api.found = found;
    expect(await run('recover', idOf('whk', 1), '--since', '2h', ...flags)).toMatchObject({
      code: 0,
      output: shown,
    });
    expect(jobs(api.calls)).toMatchObject([{ dryRun: true }]);
  });
});

describe('conversations api', () => {
  it('sends a request and prints the response, or one of its fields', async () => {
    const { api, run } = await aUser();
    api.endpoints.push(anEndpoint(1));
    const body = { role: 'user', content: 'Hello' };
    const sent = await run('api', 'POST', '/api/v1/conversations/cnv_9/messages', JSON.stringify(body));
    expect(sent).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^\{"success":true,"data":\{"id":"msg_1",/),
    });
    expect(api.calls).toEqual([{ call: 'POST /conversations/cnv_9/messages', body }]);
    const list = (field: string) => run('api', 'GET', '/api/v1/webhooks?limit=1', '--field', field);
    expect((await list('data.0.id')).output).toBe(`${idOf('whk', 1)}\n`);
    expect((await list('data.0.events')).output).toBe('["conversation.created"]\n');
    expect(await list('data.1.id')).toMatchObject({
      code: 1,
      output: '',
      errors: 'The response has no data.1.id.\n',
    });
  });

  it('reports an error of the API, and sends nothing for a wrong path or body', async () => {
    const { api, run } = await aUser();
    const { code, errors } = await run('api', 'DELETE', '/api/v1/channels/chn_9', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(errors)).toMatchObject({
      error: { type: 'NOT_FOUND', status: 404, requestId: 'req_fake' },
    });
    api.fail(503, 1);
    expect((await run('api', 'GET', '/api/v1/webhooks')).code).toBe(4);
    expect(api.calls).toHaveLength(2);
  });
});

describe('conversations trigger', () => {
  it.each([
    ['conversation.created', ['createConversation']],
    ['message.received', ['createConversation', 'createMessage']],
    ['handoff.requested', ['createConversation', 'requestHandoff']],
    ['conversation.resolved', ['createConversation', 'resolveConversation']],
    ['ticket.created', ['createTicket']],
  ])('causes %s by the operations of the API', async (type, operations) => {
    const { api, run } = await aUser();
    const { code, lines } = await run('trigger', type, '--json');
    expect(code).toBe(0);
    expect(lines()).toMatchObject([
      { type, environment: 'sandbox', steps: operations.map((operation) => ({ operation })) },
    ]);
    expect(api.calls).toHaveLength(operations.length);
  });

  it('uses the given conversation and text', async () => {
    const { api, run } = await aUser();
    const { output } = await run(
      'trigger',
      'message.received',
      '--conversation',
      'cnv_9',
      '--text',
      'Where is it?',
    );
    expect(api.calls).toEqual([
      { call: 'POST /conversations/cnv_9/messages', body: { role: 'user', content: 'Where is it?' } },
    ]);
    expect(output).toBe('  ✓ createMessage  msg_1\nTriggered message.received.\n');
  });

  it('tests an endpoint, which it needs for that', async () => {
    const { run } = await aUser();
    expect(await run('trigger', 'webhook.test')).toMatchObject({ code: 2, errors: /--endpoint/ });
    expect((await run('trigger', 'webhook.test', '--endpoint', 'whk_1')).output).toContain('evt_test');
  });

  it('names the types that it can cause, for another one', async () => {
    const { api, run } = await aUser();
    const { code, errors } = await run('trigger', 'channel.message');
    expect(code).toBe(2);
    expect(errors).toContain('Event types that can be triggered: conversation.created, message.received, ');
    expect(api.calls).toEqual([]);
  });

  it('needs --live with a live key', async () => {
    const { api, variables, run } = await aUser();
    api.key = 'ck_live_fake';
    variables.CONVERSATIONS_API_KEY = api.key;
    expect(await run('trigger', 'ticket.created')).toMatchObject({ code: 2, errors: /give --live/ });
    expect(api.calls).toEqual([]);
    expect((await run('trigger', 'ticket.created', '--live')).code).toBe(0);
  });
});

describe('conversations resend', () => {
  const posts = (calls: readonly { call: string }[]) =>
    calls.map(({ call }) => call).filter((call) => call.startsWith('POST'));

  it('sends an event to all active endpoints, and attempts what waits', async () => {
    const { api, run } = await aUser();
    api.events.push(anEvent(1));
    api.deliveries.push(
      aDelivery(1, { status: 'exhausted' }),
      aDelivery(2, { status: 'retrying' }),
      aDelivery(3, { receiverStatus: 'auto_disabled', status: 'skipped' }),
      aDelivery(4, { status: 'pending' }),
    );
    expect(await run('resend', idOf('evt', 1))).toMatchObject({
      code: 1,
      errors: 'Not confirmed: give --yes.\n',
    });
    expect(posts(api.calls)).toEqual([]);
    expect((await run('resend', idOf('evt', 1), '--yes')).code).toBe(0);
    expect(posts(api.calls)).toEqual([
      `POST /webhooks/${idOf('whk', 1)}/deliveries/${idOf('dlv', 1)}/redeliver`,
      `POST /webhooks/${idOf('whk', 2)}/deliveries/${idOf('dlv', 2)}/retry`,
    ]);
  });

  it('finds the endpoint of a delivery', async () => {
    const { api, run } = await aUser();
    api.endpoints.push(anEndpoint(1), anEndpoint(2));
    api.deliveries.push(aDelivery(2));
    const { lines } = await run('resend', idOf('dlv', 2), '--yes', '--json');
    expect(lines()).toMatchObject([
      { webhookId: idOf('whk', 2), action: 'redeliver', newDeliveryId: idOf('dlv', 'a') },
    ]);
    expect(await run('resend', idOf('dlv', 3), '--yes')).toMatchObject({
      code: 1,
      errors: /No endpoint .* has/,
    });
  });

  it.each([
    ['y\r', 0, 1],
    ['n\r', 1, 0],
    ['\u0003', 1, 0],
  ])('asks in a terminal, and understands %j', async (answer, code, sent) => {
    const { api, start } = await aUser();
    api.events.push(anEvent(1));
    api.deliveries.push(aDelivery(1), aDelivery(2));
    const resend = start(['resend', idOf('evt', 1), '--endpoint', idOf('whk', 2)], { isTerminal: true });
    await resend.shows(/Resend it at http:\/\/localhost:\d+ \(sandbox\)\? \[y\/N\]/);
    resend.stdin.write(answer);
    expect(await resend.ended).toBe(code);
    expect(posts(api.calls)).toHaveLength(sent);
  });
});

describe('conversations login', () => {
  it('stores a valid key of a pipe for its base URL, readable by the user only', async () => {
    const { api, directory, variables, start, run } = await aUser();
    delete variables.CONVERSATIONS_API_KEY;
    expect(await run('events', 'list')).toMatchObject({
      code: 3,
      errors: /There is no key for .* conversations login/,
    });
    const login = start(['login', '--base-url', `${api.url}/api/v1`]);
    login.stdin.end(`${api.key}\n`);
    expect(await login.ended).toBe(0);
    expect(login.output()).not.toContain(api.key);
    const file = `${directory}/config/conversations/credentials.json`;
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(api.key);

    delete variables.CONVERSATIONS_BASE_URL;
    expect((await run('events', 'list')).code).toBe(0);
    await chmod(file, 0o644);
    expect((await run('logout')).output).toContain(`Deleted the keys for ${api.url}.`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await run('events', 'list')).code).toBe(3);
  });

  it('asks in a terminal without showing the key, and refuses one that the API does not know', async () => {
    const { directory, start } = await aUser();
    const login = start(['login'], { isTerminal: true });
    await login.shows(/API key for http/);
    login.stdin.write('ck_live_unknown\r');
    expect(await login.ended).toBe(3);
    expect(login.errors()).toMatch(
      /AUTHENTICATION_ERROR: A valid API key is required\.\n {2}Request-Id req_fake\n$/,
    );
    expect(login.output() + login.errors()).not.toContain('ck_live_unknown');
    await expect(stat(`${directory}/config`)).rejects.toThrow('ENOENT');
  });
});

describe('errors of conversations', () => {
  it('are JSON on stderr with --json, with the exit code of their kind', async () => {
    const { api, variables, run } = await aUser();
    const failed = await run('events', 'show', 'evt_1', '--json');
    expect(failed).toMatchObject({ code: 1, output: '' });
    expect(JSON.parse(failed.errors)).toEqual({
      error: { type: 'NOT_FOUND', message: 'No such resource.', status: 404, requestId: 'req_fake' },
    });
    api.scopes = [];
    expect((await run('events', 'list')).code).toBe(3);
    variables.CONVERSATIONS_API_KEY = 'secret';
    const { code, errors } = await run('events', 'list', '--json');
    expect({ code, type: JSON.parse(errors).error.type }).toEqual({ code: 3, type: 'NO_KEY' });
  });
});
