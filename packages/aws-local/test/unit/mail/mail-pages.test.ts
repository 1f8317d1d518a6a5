import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTarget } from '../../../src/gateway/request.ts';
import type { SentMail } from '../../../src/mail/mail.ts';
import { mailPages } from '../../../src/mail/mail-pages.ts';
import { listPage, messagePage } from '../../../src/mail/pages.ts';
import { aMail } from './mail-fixture.ts';

const NAME = '2026-11-21T13-27-44-512Z-0d4c1a52.eml';

/** The pages of a mailbox with these messages. */
function asked(
  mails: Record<string, SentMail>,
  target: string,
  { method = 'GET', host = 'localhost:3000' } = {},
) {
  const request = parseTarget(target);
  if (!request) throw new Error(`${target} is a path`);
  const pages = mailPages({
    names: async () => Object.keys(mails),
    read: async (name) => {
      const mail = mails[name];
      return mail && { mail, source: 'the file' };
    },
  });
  return pages({
    ...request,
    method,
    headers: [['Host', host]],
    protocol: 'HTTP/1.1',
    sourceIp: '127.0.0.1',
  });
}

describe('the mailbox', () => {
  it('lists the messages, each with its page', async () => {
    const answer = await asked({ [NAME]: aMail({ bcc: ['member@local.test'] }) }, '/mailbox');
    expect(answer?.statusCode).toBe(200);
    expect(answer?.body).toContain('admin@local.test, member@local.test');
    expect(answer?.body).toContain(`<a href="/mailbox/${NAME}">A source has changed</a>`);
    expect(answer?.body).toContain(
      '<time datetime="2026-11-21T13:27:44.512Z">2026-11-21 13:27:44 UTC</time>',
    );
  });

  it('says that it is empty', async () => {
    expect((await asked({}, '/mailbox'))?.body).toContain('Nothing was sent yet.');
  });

  it('lists the newest 200, and the number of others', async () => {
    const mails = Object.fromEntries(Array.from({ length: 203 }, (_, index) => [`${index}.eml`, aMail()]));
    const body = String((await asked(mails, '/mailbox'))?.body);
    expect(body.match(/<td><a /g)).toHaveLength(200);
    expect(body).toContain('3 older ones are in the folder.');
  });

  it('shows a message as text, with links, and as HTML in a frame without scripts', async () => {
    const mail = aMail({ text: 'See https://dashboard.example/a?b=1&c=2.' });
    const body = String((await asked({ [NAME]: mail }, `/mailbox/${NAME}`))?.body);
    expect(body).toContain(
      '<a href="https://dashboard.example/a?b=1&amp;c=2" rel="noreferrer">https://dashboard.example/a?b=1&amp;c=2</a>.',
    );
    expect(body).toMatch(new RegExp(`<iframe sandbox="[^"]*" src="/mailbox/${NAME}/html"`));
    expect(body).not.toMatch(/sandbox="[^"]*(scripts|same-origin|top-navigation|forms)/);
    expect(body).not.toContain(mail.html);
  });

  it('returns the HTML by itself, which can neither run scripts nor load anything, with links that open a window', async () => {
    const answer = await asked({ [NAME]: aMail() }, `/mailbox/${NAME}/html`);
    expect(answer?.body).toBe('<base target="_blank"><p>It has changed.</p>');
    const policy = String(answer?.headers['Content-Security-Policy']);
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).toMatch(/; sandbox [^;]*$/);
    expect(policy).not.toMatch(/allow-(scripts|same-origin|forms|top-navigation)|script-src/);
  });

  it('returns the file', async () => {
    const answer = await asked({ [NAME]: aMail() }, `/mailbox/${NAME}/source`);
    expect(answer).toMatchObject({ headers: { 'Content-Type': 'message/rfc822' }, body: 'the file' });
  });

  it('reports any other message as missing', async () => {
    expect(await asked({ [NAME]: aMail() }, '/mailbox/other.eml')).toMatchObject({
      statusCode: 404,
      body: expect.stringContaining('There is no such message'),
    });
  });

  it.each([
    ['another path', '/mail', {}],
    ['a path below its own', `/mailbox/${NAME}/html/more`, {}],
    ['another part of a message', `/mailbox/${NAME}/other`, {}],
    ['another method', '/mailbox', { method: 'POST' }],
    ['another name of this machine', '/mailbox', { host: 'rebound.example' }],
  ])('leaves %s to the gateway', async (_, target, options) => {
    expect(await asked({ [NAME]: aMail() }, target, options)).toBeUndefined();
  });

  it('escapes all text of a message', () => {
    fc.assert(
      fc.property(fc.string(), (typed) => {
        const hostile = `"'><script>alert(1)</script>&https://a.test/"><script>${typed}`;
        const mail = aMail({ from: hostile, to: [hostile], subject: hostile, text: hostile });
        expect(messagePage({ name: hostile, mail })).not.toContain('<script');
        expect(listPage([{ name: hostile, mail }], 0)).not.toContain('<script');
      }),
    );
  });
});
