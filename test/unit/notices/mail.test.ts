import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { returnPath } from '../../../functions/api/sign-in/sign-in.ts';
import { newId } from '../../../functions/aws/ids.ts';
import { AttemptErrorCode } from '../../../functions/delivery/delivery.ts';
import {
  breakLinks,
  composeContentChangeMail,
  composeDisabledMail,
  composeFailingMail,
  MAX_SUBJECT,
  type MailKind,
  type MailText,
  shorten,
  toOneLine,
} from '../../../functions/notices/mail.ts';
import { NOW } from '../../builders.ts';
import { MAIL_LINKS } from '../../support/mail-links.ts';
import { idsOf, texts } from '../aws/arbitraries.ts';

type Change = Parameters<typeof composeContentChangeMail>[0];
type Disabling = Parameters<typeof composeDisabledMail>[0];
type Failing = Parameters<typeof composeFailingMail>[0];

const ORIGIN = 'https://dashboard.example.com';
const SOURCE = newId('src', NOW);

const aChange = (changes: Partial<Change> = {}): MailText =>
  composeContentChangeMail({
    organization: 'Example Ltd',
    sourceId: SOURCE,
    name: 'Opening hours',
    url: 'https://www.example.com/hours',
    kind: 'url',
    difference: 34.25,
    added: 'Open on Sundays.',
    removed: 'Closed on Sundays.',
    noticeSeconds: 86_400,
    dashboardOrigin: ORIGIN,
    ...changes,
  });

const aDisabling = (changes: Partial<Disabling> = {}): MailText =>
  composeDisabledMail({
    organization: 'Example Ltd',
    webhookId: newId('whk', NOW),
    url: 'https://receiver.example.com/hook',
    lastError: 'the receiver answered 500',
    disabledAt: NOW.toISOString(),
    dashboardOrigin: ORIGIN,
    ...changes,
  });

const aWarning = (changes: Partial<Failing> = {}): MailText =>
  composeFailingMail({
    organization: 'Example Ltd',
    webhookId: newId('whk', NOW),
    url: 'https://receiver.example.com/hook',
    lastError: 'the receiver answered 500',
    consecutiveFailures: 5,
    dashboardOrigin: ORIGIN,
    ...changes,
  });

/** The text of HTML, tags included. */
const readable = (html: string): string =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The tags of a page, in their order. */
const listTags = (html: string): string[] => [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag);

/** Hostile text of any length. */
const hostile = fc.oneof(
  texts,
  fc.constantFrom(
    '<script>alert(1)</script>',
    '"><img src=https://evil.example/x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    '</title></td></div><style>*{display:none}</style>',
    'Hello\r\nBcc: everybody@example.com\r\n\r\n<b>body</b>',
    '&lt;b&gt;&amp;lt;',
    '\u202etxt.exe\u2066\u200b',
    ' \u200c\u200d\ufe0f',
    '<!--',
    '-- \nhttps://evil.example/',
  ),
  fc.constant('<a href="https://evil.example">'.repeat(400)),
);
const urls = fc.oneof(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  hostile,
  hostile.map((text) => `https://example.com/?${text}`),
);
const changes = fc.record({
  organization: hostile,
  name: fc.option(hostile, { nil: undefined }),
  url: urls,
  kind: fc.constantFrom('url', 'spreadsheet', 'feed'),
  difference: fc.double({ min: 0, max: 100, noNaN: true }),
  added: hostile,
  removed: hostile,
});
const disablings = fc.record({
  organization: hostile,
  webhookId: fc.oneof(idsOf('whk'), idsOf('chn')),
  url: fc.option(urls, { nil: undefined }),
  lastError: hostile,
});
const mails = fc.oneof(
  changes.map((change) => aChange(change as Partial<Change>)),
  disablings.map((disabling) => aDisabling(disabling)),
  disablings.map((failing) => aWarning(failing)),
);

describe('e-mail with text of third parties', () => {
  it('has a subject of one line with a bounded length', () => {
    fc.assert(
      fc.property(mails, ({ subject }) => {
        expect(subject).not.toMatch(/\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
        expect(subject.length).toBeLessThanOrEqual(MAX_SUBJECT);
        expect(subject.length).toBeGreaterThan(10);
        expect(subject.isWellFormed()).toBe(true);
      }),
    );
  });

  it('has no control characters except line ends', () => {
    fc.assert(
      fc.property(mails, ({ text, html }) => {
        for (const body of [text, html]) {
          expect(body.replaceAll('\n', '')).not.toMatch(/\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
          expect(body.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  it('has no tags and no URLs in tags except its own', () => {
    const own =
      /^<(?:!doctype html|\/?(?:html|head|meta|title|body|div|h1|p|table|tr|th|td|blockquote|a|br)(?: [a-z-]+="[^"<>]*")*)>$/;
    fc.assert(
      fc.property(mails, ({ html }) => {
        for (const tag of listTags(html)) expect(tag).toMatch(own);
        const links = listTags(html).filter((tag) => /\b(?:href|src|action|background)=/.test(tag));
        expect(links.length).toBeOneOf([1, 2]);
        for (const link of links) expect(link).toContain(`href="${ORIGIN}/`);
        expect(html).not.toMatch(/url\(|@import|javascript:/i);
      }),
    );
  });

  it('has the same tags as with harmless text', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const said = text.replaceAll(/[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '') !== '';
        const harmless = aChange({ organization: 'x', name: 'x', added: said ? 'x' : '', removed: '' });
        const harmful = aChange({
          organization: text,
          name: text,
          added: text.replaceAll('\n', ' '),
          removed: '',
        });
        expect(listTags(harmful.html)).toEqual(listTags(harmless.html));
      }),
    );
  });

  it('has a bounded size', () => {
    fc.assert(
      fc.property(mails, ({ text, html }) => {
        expect(text.length).toBeLessThan(8_000);
        expect(html.length).toBeLessThan(24_000);
      }),
    );
  });

  it('quotes found text in every line', () => {
    const lines = fc.array(hostile, { minLength: 1, maxLength: 5 }).map((all) => all.join('\n'));
    fc.assert(
      fc.property(lines, (added) => {
        const [, quoted = ''] =
          /Added, largest passages first:\n([\s\S]*?)\n\nSee what changed/.exec(
            aChange({ added, removed: '' }).text,
          ) ?? [];
        for (const line of quoted.split('\n')) expect(line === '' || line.startsWith('> ')).toBe(true);
      }),
    );
  });
});

describe('e-mail about changed content', () => {
  const { subject, text, html } = aChange();

  it('names the source and the percentage of its change', () => {
    expect(subject).toBe('Content changed by 34.3%: Opening hours');
    for (const body of [text, readable(html)]) {
      expect(body).toContain('Content changed by 34.3%');
      expect(body).toContain('Example Ltd');
      expect(body).toContain('Opening hours');
      expect(body).toContain('https://www.example.com/hours');
    }
  });

  it('keeps the lines of the quoted text', () => {
    const lines = aChange({ added: ' First \r\n second' });
    expect(lines.text).toContain('> First\n> second\n');
    expect(lines.html).toContain('>First<br>second</blockquote>');
  });

  it('quotes each passage by itself, and explains the percentage', () => {
    const { text, html } = aChange({ added: 'The largest\npassage\n\nAnother', removed: '' });
    expect(text).toContain('Added, largest passages first:\n> The largest\n> passage\n\n> Another\n');
    expect(html.match(/<blockquote/g)).toHaveLength(2);
    expect(aChange().text).toContain('Removed, largest passages first:\n> Closed on Sundays.');
    expect(text.replaceAll('\n', ' ')).toContain(
      '34.3% of the words in both versions were added or removed.',
    );
  });

  it('has links to its source and to its settings, and says how often it is sent', () => {
    expect(text).toContain(`\n${ORIGIN}/sources/${SOURCE}\n`);
    expect(text).toContain(`\n${ORIGIN}/settings\n`);
    expect(html).toContain(`href="${ORIGIN}/settings"`);
    expect(text.replaceAll('\n', ' ')).toContain('At most one is sent per source in 24 hours.');
    expect(aChange({ noticeSeconds: 3600 }).html).toContain('in 1 hour.');
    expect(aChange({ noticeSeconds: 90 }).html).toContain('in 90 seconds.');
  });

  it('names the host when the source has no name, and its kind when it has no host either', () => {
    expect(aChange({ name: undefined }).subject).toBe('Content changed by 34.3%: www.example.com');
    expect(aChange({ name: ' \u200b' }).subject).toBe('Content changed by 34.3%: www.example.com');
    expect(aChange({ name: '\u200d' }).subject).toBe('Content changed by 34.3%: www.example.com');
    expect(aChange({ name: undefined, url: 'x', kind: 'feed' }).subject).toBe(
      'Content changed by 34.3%: a feed',
    );
  });

  it('has a URL in ASCII, and a long one as text', () => {
    expect(aChange({ url: 'https://еxample.com/ü' }).text).toContain('https://xn--xample-2of.com/%C3%BC');
    const long = aChange({ url: `https://example.com/${'x'.repeat(1000)}` }).text;
    expect(long).toContain('https:\u200b//example\u200b.com/x');
    expect(long).not.toContain('https://example.com/');
  });

  it('makes no links of text of third parties', () => {
    const linking = aChange({
      added: 'See https://evil.example or ask me@evil.example',
      name: 'evil.example',
    });
    expect(`${linking.text}${linking.html}`).not.toContain('evil.example');
    expect(linking.text).toContain('See https:\u200b//evil\u200b.example or ask me\u200b@evil\u200b.example');
  });

  it('has lines of at most 72 columns when words allow it', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(words, (added) => {
        const lines = aChange({ added: added.join(' ') }).text.split('\n');
        for (const line of lines) if (!line.startsWith(ORIGIN)) expect(line.length).toBeLessThanOrEqual(72);
      }),
    );
  });
});

describe('e-mail about a disabled endpoint', () => {
  it("has the endpoint's id, its URL, the last error, the time, and what to do", () => {
    const webhookId = newId('whk', NOW);
    const { subject, text, html } = aDisabling({ webhookId });
    expect(subject).toBe(
      'Webhook endpoint disabled: https://receiver.example.com/hook (the receiver answered 500)',
    );
    for (const body of [text.replaceAll('\n', ' '), readable(html)]) {
      expect(body).toContain(webhookId);
      expect(body).toContain('https://receiver.example.com/hook');
      expect(body).toContain('2026-11-20 09:30 UTC');
      expect(body).toContain('the receiver answered 500');
      expect(body).toContain('10 deliveries in a row');
      expect(body).toContain('register the endpoint again');
      expect(body).toContain('resend what it missed');
      expect(body).toContain(`${ORIGIN}/endpoints/${webhookId}/recover`);
    }
  });

  it('has no error when the error has no visible text', () => {
    const { subject, text } = aDisabling({ lastError: '\u200b' });
    expect(subject).toBe('Webhook endpoint disabled: https://receiver.example.com/hook');
    expect(text).not.toContain('Last error');
  });

  it('omits the query of the URL, which may have keys', () => {
    const { subject, text, html } = aDisabling({ url: 'https://receiver.example.com/hook?key=hidden#part' });
    for (const body of [subject, text, html]) {
      expect(body).toContain('https://receiver.example.com/hook');
      expect(body).not.toContain('hidden');
    }
  });

  it('omits the URL of a deleted endpoint', () => {
    const webhookId = newId('whk', NOW);
    const { subject, text } = aDisabling({ webhookId, url: undefined });
    expect(subject).toBe(`Webhook endpoint disabled: ${webhookId} (the receiver answered 500)`);
    expect(text).not.toContain('URL');
  });

  it('calls a channel a channel', () => {
    const { subject, text } = aDisabling({ webhookId: newId('chn', NOW) });
    expect(subject).toBe('Channel disabled: https://receiver.example.com/hook (the receiver answered 500)');
    expect(text.replaceAll('\n', ' ')).toContain('resume the channel');
    expect(text).not.toContain('ndpoint');
  });

  it('keeps the beginnings of a long URL and of a long error in its subject', () => {
    const { subject, text } = aDisabling({
      url: `https://receiver.example.com/${'x'.repeat(100)}`,
      lastError: `TLS ${'y'.repeat(1000)}`,
    });
    expect(subject).toMatch(/: https:\/\/receiver\.example\.com\/x+… \(TLS y+…$/);
    expect(text.length).toBeLessThan(1_500);
  });
});

describe('e-mail about a failing endpoint', () => {
  it('says how many deliveries failed, how many more disable it, and why the last one failed', () => {
    const webhookId = newId('whk', NOW);
    const { subject, text, html } = aWarning({ webhookId, consecutiveFailures: 6 });
    expect(subject).toBe(
      'Webhook endpoint failing (6 of 10): https://receiver.example.com/hook (the receiver answered 500)',
    );
    for (const body of [text.replaceAll('\n', ' '), readable(html)]) {
      expect(body).toContain('failed to receive 6 deliveries in a row (6 of 10)');
      expect(body).toContain('After 4 more in a row it is disabled');
      expect(body).toContain('https://receiver.example.com/hook');
      expect(body).toContain('the receiver answered 500');
      expect(body).toContain(`${ORIGIN}/endpoints/${webhookId}/recover`);
      expect(body).toContain('At most one is sent for it in 24 hours.');
    }
  });
});

const common = { organization: 'Example Ltd', dashboardOrigin: ORIGIN };
const receivers = [newId('whk', NOW), newId('chn', NOW)].map((webhookId) => ({
  ...common,
  webhookId,
  url: 'https://receiver.example.com/hook',
  lastError: 'the receiver answered 500',
}));
const failing = AttemptErrorCode.options.flatMap((lastErrorCode) =>
  receivers.map((receiver) => ({ ...receiver, lastErrorCode })),
);

/** E-mails of each kind, in all their forms. */
const MAILS: Record<MailKind, MailText[]> = {
  'source.changed': [
    composeContentChangeMail({
      ...common,
      sourceId: newId('src', NOW),
      name: 'Prices',
      url: 'https://www.example.com/prices',
      kind: 'url',
      difference: 40,
      added: '',
      removed: '',
      noticeSeconds: 86_400,
    }),
  ],
  'webhook.failing': failing.map((each) => composeFailingMail({ ...each, consecutiveFailures: 5 })),
  'webhook.disabled': [...failing, ...receivers].map((receiver) =>
    composeDisabledMail({ ...receiver, disabledAt: NOW.toISOString() }),
  ),
};
const listLinks = ({ html }: MailText): string[] =>
  [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);

describe('the links of e-mails', () => {
  it('are those that the tests of the dashboard open, and sections of the page of causes', () => {
    const links = Object.values(MAILS).flat().flatMap(listLinks);
    const paths = links.map((link) => link.replace(ORIGIN, '').replace(/_[0-9a-f]{32}/, '_1'));
    const causes = [...readFileSync('docs/reference/causes.md', 'utf8').matchAll(/^## `(\w+)`$/gm)];
    expect(new Set(paths)).toEqual(
      new Set([...MAIL_LINKS, ...causes.map(([, code]) => `/api/docs#cause-${code}`)]),
    );
  });

  it.each(Object.entries(MAILS))('are in the text and in the HTML of %s', (_kind, mails) => {
    for (const mail of mails) {
      expect(listLinks(mail)).not.toEqual([]);
      for (const link of listLinks(mail)) expect(mail.text.split('\n')).toContain(link);
    }
  });

  it.each(MAIL_LINKS)('are where a sign-in returns to: %s', (path) => {
    expect(returnPath(path)).toBe(path);
  });
});

describe('text in one line', () => {
  it('has no control characters, direction overrides, invisible characters or line breaks', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const line = toOneLine(text);
        expect(line).not.toMatch(/\p{Cc}|[\u2028\u2029]/u);
        expect(line).not.toMatch(/[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u00ad]/u);
        expect(line.isWellFormed()).toBe(true);
        expect(line).toBe(line.trim());
      }),
    );
  });

  it('is unchanged when there is nothing to remove', () => {
    fc.assert(fc.property(texts, (text) => toOneLine(toOneLine(text)) === toOneLine(text)));
    for (const text of ['Öffnungszeiten 9–17', 'می‌خواهم', '👩‍👩‍👧', 'a <b> & "c"'])
      expect(toOneLine(text)).toBe(text);
  });

  it.each([
    ['Invoice\r\nBcc: everybody@example.com', 'Invoice Bcc: everybody@example.com'],
    ['user\u202egpj.exe', 'usergpj.exe'],
    ['pay\u200bpal', 'paypal'],
    ['a\u0000\u001b[31mb', 'a [31mb'],
    ['a\u2028b\u00a0c', 'a b c'],
    ['\u200d', ''],
    [' \u200c\u200d\ufe0f\u3164 ', ''],
  ])('of %j is %j', (text, line) => {
    expect(toOneLine(text)).toBe(line);
  });
});

describe('shortened text', () => {
  it('is unchanged, or its beginning and an ellipsis, and never too long', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 50 }), (text, max) => {
        const short = shorten(text.toWellFormed(), max);
        expect(short.length).toBeLessThanOrEqual(max);
        expect(short.isWellFormed()).toBe(true);
        if (text.length <= max) expect(short).toBe(text.toWellFormed());
        else {
          expect(short.endsWith('…')).toBe(true);
          expect(text.toWellFormed().startsWith(short.slice(0, -1))).toBe(true);
        }
      }),
    );
  });

  it('omits a character that would be cut in half', () => {
    expect(shorten('ab😀cd', 4)).toBe('ab…');
    expect(shorten('ab😀cd', 5)).toBe('ab😀…');
  });
});

describe('text without links', () => {
  /** Patterns that mail programs turn into links. */
  const LINKS = [/\w:\/\/\S/, /[\w-]\.[a-z]/i, /\w@\w/, /www\./i];

  it('has no pattern that mail programs turn into links, and looks the same', () => {
    const hosts = fc.constantFrom('evil.example', 'www.evil.com', 'xn--80ak6aa92e.com', 'a.b.c.museum');
    const links = fc.oneof(
      hosts,
      hosts.map((host) => `https://${host}/path?x=1`),
      hosts.map((host) => `someone@${host}`),
    );
    fc.assert(
      fc.property(texts, links, texts, (before, link, after) => {
        const text = `${before} ${link} ${after}`;
        const shown = breakLinks(text);
        for (const pattern of LINKS) expect(shown).not.toMatch(pattern);
        expect(shown.replaceAll('\u200b', '')).toBe(text.replaceAll('\u200b', ''));
      }),
    );
  });

  it.each(['From 9.30 to 17.00.', 'It ends. And goes on.', '12.50 EUR: 3/4'])(
    'leaves %j unchanged',
    (text) => {
      expect(breakLinks(text)).toBe(text);
    },
  );
});
