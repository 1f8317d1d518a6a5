import { expect, it } from 'vitest';
import { all, references } from './reading.ts';
import { synthesize } from './synthesize.ts';

const template = synthesize();

it('the dashboard can be created again in another region of the account, where CloudFront is shared', () => {
  for (const [type, name] of [
    ['AWS::CloudFront::Function', 'Name'],
    ['AWS::CloudFront::ResponseHeadersPolicy', 'Name'],
    ['AWS::CloudFront::OriginAccessControl', 'Name'],
  ] as const)
    for (const [id, { Properties }] of all(template, type)) {
      const { ResponseHeadersPolicyConfig, OriginAccessControlConfig } = Object(Properties);
      const named = ResponseHeadersPolicyConfig ?? OriginAccessControlConfig ?? Properties;
      expect(references(Object(named)[name]), id).toEqual(['AWS::Region']);
    }
});
