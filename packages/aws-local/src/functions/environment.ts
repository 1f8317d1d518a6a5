import { ACCOUNT, REGION } from '../arns.ts';
import type { TableKeys } from '../permissions/dynamodb-rules.ts';
import type { Statement } from '../permissions/statements.ts';
import type { LocalFunctionOptions } from './options.ts';

/**
 * Passes {@link SandboxAuthorization} as JSON to a sandbox; the preload removes it before the handler loads.
 */
export const AUTHORIZATION_VARIABLE = 'LOCAL_RUN_AUTHORIZATION';

/** Rules against which a sandbox checks its function's SDK calls. */
export interface SandboxAuthorization {
  /** ARN in the messages of denied calls. */
  principal: string;
  statements: readonly Statement[];
  /** `host:port` of the engines whose calls are checked; others pass. */
  hosts: string[];
  /** If false, calls that the role does not allow are sent anyway. */
  rolesEnforced?: boolean;
  /** By table name, to reject the keys that DynamoDB rejects. */
  tableKeys: Readonly<Record<string, TableKeys>>;
}

/** Variables that Lambda sets, and the function's own. */
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
    // The runtime client requires an address but sends its requests over the channel.
    AWS_LAMBDA_RUNTIME_API: '127.0.0.1:1',
    LAMBDA_TASK_ROOT: directory,
    LAMBDA_RUNTIME_DIR: directory,
    _HANDLER: handler,
    [AUTHORIZATION_VARIABLE]: JSON.stringify(buildAuthorization(options)),
  };
}

function buildAuthorization(options: LocalFunctionOptions): SandboxAuthorization {
  const { name, statements, endpoints = [], tableKeys = {}, rolesEnforced } = options;
  return {
    principal: `arn:aws:sts::${ACCOUNT}:assumed-role/${name}/${name}`,
    statements,
    hosts: endpoints.map((endpoint) => new URL(endpoint).host),
    tableKeys,
    ...(rolesEnforced !== undefined && { rolesEnforced }),
  };
}
