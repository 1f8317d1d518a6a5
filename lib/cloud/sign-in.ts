import { Construct } from 'constructs';
import * as routes from '../../functions/sign-in/routes.ts';
import type { Identity } from './identity.ts';
import { type CodeOf, ServiceFunction } from './service-function.ts';

/** Where the dashboard's pages sign people in and out, and the functions that do. */
export const SIGN_IN_ROUTES = Object.values(routes);

const DESCRIPTIONS: Readonly<Record<(typeof SIGN_IN_ROUTES)[number]['name'], string>> = {
  'begin-sign-in': 'Say where to sign in',
  'finish-sign-in': 'Make an authorization code a session',
  'renew-session': 'Renew a session',
  'sign-out': 'End a session',
};

/** Seconds: for three requests to the issuer at most, of two seconds each. The gateway gives up at 29. */
const TIMEOUT = 10;

/** The sign-in. Its functions know the issuer, and may do nothing but write their logs. */
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
