import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromMime, toMime } from '../../../src/mail/mime.ts';
import { aMail } from './mail-fixture.ts';

describe('a message as a file', () => {
  it('is readable for mail programs: its text, and its HTML as the better alternative', () => {
    expect(toMime(aMail()).split('\r\n')).toEqual([
      'Date: Sat, 21 Nov 2026 13:27:44 +0000',
      'From: notifications@local.test',
      'To: admin@local.test',
      'Subject: A source has changed',
      'Message-ID: <0d4c1a52-6c1f-4a0e-9d3e-5f5f3a1b2c3d@email.amazonses.com>',
      'MIME-Version: 1.0',
      'Content-Type: multipart/alternative; boundary="=_0d4c1a52-6c1f-4a0e-9d3e-5f5f3a1b2c3d"',
      '',
      '--=_0d4c1a52-6c1f-4a0e-9d3e-5f5f3a1b2c3d',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'It has changed.',
      '--=_0d4c1a52-6c1f-4a0e-9d3e-5f5f3a1b2c3d',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '<p>It has changed.</p>',
      '--=_0d4c1a52-6c1f-4a0e-9d3e-5f5f3a1b2c3d--',
      '',
    ]);
  });

  it('has all fields of the message', () => {
    const body = fc.string({ unit: 'binary', maxLength: 300 }).map((text) => text.replaceAll('\r', ''));
    const address = fc.emailAddress();
    const addresses = fc.array(
      fc.oneof(
        address,
        address.map((one) => `"Doe, Ada" <${one}>`),
      ),
      { maxLength: 3 },
    );
    const mail = fc.record({
      from: address,
      to: addresses,
      cc: addresses,
      bcc: addresses,
      replyTo: addresses,
      subject: fc.string({ unit: 'binary', maxLength: 120 }),
      text: body,
      html: body,
    });
    fc.assert(
      fc.property(mail, (written) => {
        const { at: _, ...expected } = aMail(written);
        expect(fromMime(toMime(aMail(written)))).toEqual(expected);
      }),
    );
  });

  it('has only short lines of plain characters, for any content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const message = toMime(aMail({ subject: text, text, html: text }));
        expect(message).not.toMatch(/[^\t\r\n\x20-\x7e]|\r(?!\n)|(?<!\r)\n/);
        const tooLong = message.split('\r\n').filter((line) => line.length > 100);
        expect(tooLong).toEqual([]);
      }),
    );
  });

  it('cannot be altered by its content', () => {
    const subject = 'Hello\r\nBcc: everybody@local.test';
    const text = '--=_0d4c1a52-6c1f-4a0e-9d3e-5f5f3a1b2c3d--\n\nContent-Type: text/html';
    expect(fromMime(toMime(aMail({ subject, text })))).toMatchObject({ subject, text, bcc: [] });
  });

  it.each(['', 'Subject: Hello\r\n\r\nHello'])('is not parsed from %j', (message) => {
    expect(fromMime(message)).toBeUndefined();
  });
});
