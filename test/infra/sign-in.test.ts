import { describe, expect, it } from 'vitest';
import * as routes from '../../functions/api/sign-in/routes.ts';
import { SignInEnvironment } from '../../functions/aws/config.ts';
import { SIGN_IN } from '../../lib/infra/bundle.ts';
import { TELEMETRY } from './reading.ts';
import { functionNamed, ofType, synthesize } from './synthesize.ts';

const SENDER = 'notifications@mail.example.com';
const template = synthesize({ mailFrom: SENDER });
const variablesOf = (of: ReturnType<typeof synthesize>, name: string) =>
  Object(functionNamed(of, name)[1].Properties.Environment).Variables;

it('invitations come from the sender of e-mail, where there is one', () => {
  const mailOf = (of: ReturnType<typeof synthesize>) =>
    ofType(of, 'AWS::Cognito::UserPool').map(([, { Properties }]) => Properties.EmailConfiguration);
  expect(mailOf(template)).toEqual([
    expect.objectContaining({ EmailSendingAccount: 'DEVELOPER', From: SENDER }),
  ]);
  expect(JSON.stringify(mailOf(template))).toContain(`:identity/${SENDER}`);
  expect(mailOf(synthesize({ mailFrom: 'none' }))).toEqual([undefined]);
});

describe('the functions of the sign-in', () => {
  it('are invoked by the gateway at their paths, with the methods that they expect', () => {
    const resources = ofType(template, 'AWS::ApiGateway::Resource');
    const pathOf = (id: unknown): string => {
      const [, resource] = resources.find(([logicalId]) => logicalId === Object(id).Ref) ?? [];
      return resource === undefined
        ? ''
        : `${pathOf(resource.Properties.ParentId)}/${resource.Properties.PathPart}`;
    };
    const invoked = ofType(template, 'AWS::ApiGateway::Method').map(([, { Properties }]) => ({
      method: Properties.HttpMethod,
      path: pathOf(Properties.ResourceId),
      by: JSON.stringify(Object(Properties.Integration).Uri ?? ''),
    }));
    for (const { name, method, path } of Object.values(routes)) {
      const [caller, ...others] = invoked.filter(({ by }) => by.includes(`-${name}/`));
      expect(caller, name).toMatchObject({ method, path });
      expect(others).toEqual([]);
    }
    expect(Object.values(routes).map(({ path }) => path)).toEqual([
      '/session/sign-in',
      '/session',
      '/session/renewal',
      '/session',
    ]);
  });

  it.each(SIGN_IN)('%s has the issuer, and no tables or keys', (name) => {
    const variables = variablesOf(template, name);
    const ours = Object.keys(variables).filter((variable) => !TELEMETRY.includes(variable));
    expect(ours.sort()).toEqual(Object.keys(SignInEnvironment.shape).sort());
  });
});
