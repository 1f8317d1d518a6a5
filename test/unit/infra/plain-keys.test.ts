import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainKeys, withPlainKeys } from '../../../lib/infra/plain-keys.ts';
import { bundled } from './bundled.ts';

describe("the SDK's schema in a bundle", () => {
  it('describes only the operations that are called', async () => {
    const { text } = await bundled(`export { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2';`, [
      plainKeys,
    ]);
    expect(text).toContain('/v2/email/outbound-emails');
    expect(text).not.toContain('/v2/email/contact-lists');
    expect(text.match(/\/v2\/email\//g)).toHaveLength(1);
  });
});

describe('keys of a description', () => {
  it('become plain where they name a string of it', () => {
    expect(withPlainKeys('const _h = "http";\nconst op = [9, { [_h]: ["POST", [_h]] }];')).toBe(
      'const _h = "http";\nconst op = [9, { "http": ["POST", [_h]] }];',
    );
  });

  it('stay where they name something else', () => {
    const text = 'const _n = 400;\nconst op = { [_n]: 1, [_absent]: 2 };';
    expect(withPlainKeys(text)).toBe(text);
  });

  it('keep their meaning', () => {
    const name = fc.stringMatching(/^_[A-Za-z0-9]{1,4}$/);
    const value = fc.stringMatching(/^[ -!#-[\]-~]{0,10}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(name, value), { selector: ([one]) => one, minLength: 1 }),
        (pairs) => {
          const text = `${pairs.map(([n, v]) => `const ${n} = "${v}";`).join('\n')}
const described = { ${pairs.map(([n], index) => `[${n}]: ${index}`).join(', ')} };`;
          const evaluated = (source: string) => new Function(`${source}; return described;`)();
          expect(evaluated(withPlainKeys(text))).toEqual(evaluated(text));
        },
      ),
    );
  });
});
