import { Construct } from 'constructs';
import type { Identity } from './identity.ts';
import { SIGN_IN_ROUTES } from './served-methods.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';

const DESCRIPTIONS: Readonly<Record<(typeof SIGN_IN_ROUTES)[number]['name'], string>> = {
  'begin-sign-in': 'Say where to sign in',
  'finish-sign-in': 'Make an authorization code a session',
  'renew-session': 'Renew a session',
  'sign-out': 'End a session',
};

/** Seconds, for at most three requests to the issuer of two seconds each. The gateway times out at 29. */
const TIMEOUT = 10;

/** Sign-in functions, which know the issuer and may only write logs. */
export class SignInFunctions extends Construct {
  constructor(scope: Construct, id: string, { code, identity }: { code: CodeOf; identity: Identity }) {
    super(scope, id);
    for (const { name, method, path } of SIGN_IN_ROUTES)
      new ServiceFunction(this, pascal(name), {
        name,
        description: `${method} /api${path}: ${DESCRIPTIONS[name]}`,
        code,
        environment: identity.signInEnvironment,
        timeoutSeconds: TIMEOUT,
      });
  }
}

const pascal = (name: string): string =>
  name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
