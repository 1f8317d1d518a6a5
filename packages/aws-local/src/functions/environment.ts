import { ACCOUNT, REGION } from '../arns.ts';
import type { TableKeys } from '../permissions/dynamodb-rules.ts';
import type { Statement } from '../permissions/statements.ts';
import type { LocalFunctionOptions } from './options.ts';
import type { FaultPlan } from './sandbox/faults.ts';

/**
 * Carries {@link SandboxAuthorization} as JSON into a sandbox process; the preload removes it before the
 * handler loads.
 */
export const AUTHORIZATION_VARIABLE = 'LOCAL_RUN_AUTHORIZATION';

/** What a sandbox checks the SDK calls of its function against. */
export interface SandboxAuthorization {
  /** ARN in the messages of refusals. */
  principal: string;
  statements: readonly Statement[];
  /** `host:port` of the engines whose calls are checked; others pass. */
  hosts: string[];
  /** Calls that the role does not allow are sent all the same when false. */
  rolesEnforced?: boolean;
  faults?: FaultPlan;
  /** By the tables' names, for what DynamoDB refuses in keys. */
  tableKeys: Readonly<Record<string, TableKeys>>;
}

/** What the Lambda service sets in every sandbox, around the function's own variables. */
export function sandboxEnvironment(options: LocalFunctionOptions): Record<string, string> {
  const { name, directory, handler, memoryMiB, environment, compileCache } = options;
  return {
    PATH: process.env.PATH ?? '',
    LANG: 'en_US.UTF-8',
    TZ: ':UTC',
    ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
    ...environment,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMiB),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: 'local',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    // The runtime client insists on an address; what it would send there goes over the channel.
    AWS_LAMBDA_RUNTIME_API: '127.0.0.1:1',
    LAMBDA_TASK_ROOT: directory,
    LAMBDA_RUNTIME_DIR: directory,
    _HANDLER: handler,
    [AUTHORIZATION_VARIABLE]: JSON.stringify(authorizationOf(options)),
  };
}

function authorizationOf(options: LocalFunctionOptions): SandboxAuthorization {
  const { name, statements, endpoints = [], tableKeys = {}, rolesEnforced, faults } = options;
  return {
    principal: `arn:aws:sts::${ACCOUNT}:assumed-role/${name}/${name}`,
    statements,
    hosts: endpoints.map((endpoint) => new URL(endpoint).host),
    tableKeys,
    ...(rolesEnforced !== undefined && { rolesEnforced }),
    ...(faults && { faults }),
  };
}
