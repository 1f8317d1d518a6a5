import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { functionArn } from '../../../src/arns.ts';
import { defineFunctions, unqualified } from '../../../src/functions/functions.ts';
import { References } from '../../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../../src/template/template.ts';

describe('a name of a function', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
  const qualifier = fc.stringMatching(/^([$]LATEST|[A-Za-z0-9_-]{1,128})$/);

  it('is the same with a version or an alias after it, as a name and as an ARN', () => {
    fc.assert(
      fc.property(name, qualifier, (fn, version) => {
        for (const name of [fn, functionArn(fn)]) {
          expect(unqualified(name)).toBe(name);
          expect(unqualified(`${name}:${version}`)).toBe(name);
        }
      }),
    );
  });
});

describe('a template’s versions and aliases', () => {
  const { resources, outputs } = parseTemplate({
    Resources: {
      Fn: {
        Type: 'AWS::Lambda::Function',
        Properties: {
          FunctionName: 'shop-work',
          Code: { S3Key: 'abc.zip' },
          Handler: 'index.handler',
          Runtime: 'nodejs24.x',
        },
      },
      FnVersion: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'Fn' } } },
      FnLive: {
        Type: 'AWS::Lambda::Alias',
        Properties: {
          FunctionName: { Ref: 'Fn' },
          FunctionVersion: { 'Fn::GetAtt': ['FnVersion', 'Version'] },
          Name: 'live',
        },
        UpdatePolicy: { CodeDeployLambdaAliasUpdate: { ApplicationName: 'a', DeploymentGroupName: 'g' } },
      },
      Application: { Type: 'AWS::CodeDeploy::Application', Properties: { ComputePlatform: 'Lambda' } },
    },
  });
  const template = templateOf('Shop', resources, outputs);
  const references = new References('Shop');
  defineFunctions(template, references);

  it('have ARNs that end in them, as Lambda’s do', () => {
    expect(references.resolve({ Ref: 'FnLive' })).toBe(`${functionArn('shop-work')}:live`);
    expect(references.resolve({ Ref: 'FnVersion' })).toBe(`${functionArn('shop-work')}:1`);
    expect(references.resolve({ 'Fn::GetAtt': ['FnVersion', 'Version'] })).toBe('1');
  });

  it('name the function, also as the CDK writes an alias’s name into an event source', () => {
    const written = references.resolve({
      'Fn::Join': ['', [{ 'Fn::Select': ['6', { 'Fn::Split': [':', { Ref: 'FnLive' }] }] }, ':live']],
    });
    expect(written).toBe('shop-work:live');
    expect(unqualified(String(written))).toBe('shop-work');
  });

  it('need no resource that moves them', () => {
    expect(template.ofType('AWS::CodeDeploy::Application')).toEqual([]);
  });
});
