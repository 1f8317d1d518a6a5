import * as z from 'zod';
import { REGION, userPoolArn } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import { STANDARD_ATTRIBUTES, type UserPool } from '../identity/user-pool.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import { parseProperties } from './properties.ts';

const SECONDS = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 } as const;
const Unit = z.enum(['seconds', 'minutes', 'hours', 'days']);

/** Cognito's default limits for the text of an attribute. */
const MIN_LENGTH = 0;
const MAX_LENGTH = 2048;
const Pool = z.object({
  Schema: z
    .array(
      z.object({
        Name: z.string(),
        StringAttributeConstraints: z
          .object({
            MinLength: z.coerce.number().default(MIN_LENGTH),
            MaxLength: z.coerce.number().default(MAX_LENGTH),
          })
          .prefault({}),
      }),
    )
    .default([]),
});

const validity = z.number().optional();
const Client = z.object({
  AllowedOAuthFlowsUserPoolClient: z.boolean().default(false),
  AllowedOAuthScopes: z.array(z.string()).default([]),
  CallbackURLs: z.array(z.url()).default([]),
  LogoutURLs: z.array(z.url()).default([]),
  ReadAttributes: z.array(z.string()).optional(),
  EnableTokenRevocation: z.boolean().default(true),
  RefreshTokenRotation: z
    .object({ Feature: z.enum(['ENABLED', 'DISABLED']) })
    .default({ Feature: 'DISABLED' }),
  AccessTokenValidity: validity,
  IdTokenValidity: validity,
  RefreshTokenValidity: validity,
  TokenValidityUnits: z
    .object({
      AccessToken: Unit.default('hours'),
      IdToken: Unit.default('hours'),
      RefreshToken: Unit.default('days'),
    })
    .prefault({}),
});

/**
 * The template's user pool, if any.
 * @throws LocalRunError when it has several: ID tokens here have one issuer only
 */
export function userPoolOf(template: Template): Resource | undefined {
  const [pool, ...others] = template.ofType('AWS::Cognito::UserPool');
  if (others.length > 0) throw new LocalRunError('The local run takes a template with one user pool at most');
  return pool;
}

/**
 * Reads the pool and its client for the identity provider, and defines both in `references`: the pool's id as
 * `Ref`, and `Arn`, `ProviderName`, `ProviderURL` and `UserPoolId`; the client's id as `Ref` and `ClientId`.
 * @param issuer URL of the identity provider
 * @throws LocalRunError unless the pool has exactly one client
 */
export function provisionUserPool(
  template: Template,
  pool: Resource,
  references: References,
  issuer: string,
): UserPool {
  const id = `${REGION}_${pool.logicalId}`;
  references.define(pool.logicalId, {
    ref: id,
    attributes: {
      Arn: userPoolArn(id),
      ProviderName: new URL(issuer).host,
      ProviderURL: issuer,
      UserPoolId: id,
    },
  });

  const [client, ...others] = template.ofType('AWS::Cognito::UserPoolClient');
  if (!client || others.length > 0) {
    throw new LocalRunError(
      `${pool.logicalId} (${pool.type}): the local run takes a user pool with one client`,
    );
  }
  const clientId = client.logicalId;
  references.define(client.logicalId, { ref: clientId, attributes: { ClientId: clientId } });

  const { Schema } = parseProperties(Pool, pool, references);
  return {
    id,
    clientId,
    customAttributes: new Map(
      Schema.filter(({ Name }) => !STANDARD_ATTRIBUTES.includes(Name)).map(
        ({ Name, StringAttributeConstraints: { MinLength, MaxLength } }) => [
          `custom:${Name}`,
          { minLength: MinLength, maxLength: MaxLength },
        ],
      ),
    ),
    ...clientSettings(parseProperties(Client, client, references)),
  };
}

function clientSettings(
  client: z.infer<typeof Client>,
): Omit<UserPool, 'id' | 'clientId' | 'customAttributes'> {
  const { TokenValidityUnits: units, AllowedOAuthFlowsUserPoolClient: signsIn } = client;
  return {
    // Without a list the client cannot read custom attributes (API reference, CreateUserPoolClient).
    readAttributes: client.ReadAttributes ?? STANDARD_ATTRIBUTES,
    scopes: signsIn ? client.AllowedOAuthScopes : [],
    callbackUrls: signsIn ? client.CallbackURLs : [],
    logoutUrls: signsIn ? client.LogoutURLs : [],
    revocation: client.EnableTokenRevocation,
    rotation: client.RefreshTokenRotation.Feature === 'ENABLED',
    lifetimes: {
      idToken: lifetime(client.IdTokenValidity, units.IdToken, 3600),
      accessToken: lifetime(client.AccessTokenValidity, units.AccessToken, 3600),
      refreshToken: lifetime(client.RefreshTokenValidity, units.RefreshToken, 30 * SECONDS.days),
    },
  };
}

/** Seconds; 0 means the default, as in Cognito. */
const lifetime = (value: number | undefined, unit: z.infer<typeof Unit>, standard: number): number =>
  value ? value * SECONDS[unit] : standard;
