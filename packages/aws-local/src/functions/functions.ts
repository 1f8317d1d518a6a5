import * as z from 'zod';
import { ACCOUNT, functionArn, PARTITION, REGION } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import type { TableKeys } from '../permissions/dynamodb-rules.ts';
import type { PermissionRequest } from '../permissions/requests.ts';
import { type Statement, statementsOf } from '../permissions/statements.ts';
import { physicalName } from '../provision/physical-name.ts';
import { parseProperties } from '../provision/properties.ts';
import { TableDefinition } from '../provision/table-definition.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import type { SandboxCapacity } from './capacity.ts';
import { preloadFileIn } from './preload-file.ts';
import { LocalFunction } from './runtime.ts';
import { type FaultPlan, type InjectedFault, requirePossible } from './sandbox/faults.ts';

/** Sandboxes side by side of a function that nothing but requests invokes. */
const DEFAULT_SANDBOXES = 3;

const FunctionProperties = z.object({
  Handler: z.string(),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  ReservedConcurrentExecutions: z.number().optional(),
  RecursiveLoop: z.enum(['Allow', 'Terminate']).default('Terminate'),
  Environment: z
    .object({ Variables: z.record(z.string(), z.coerce.string()).default({}) })
    .default({ Variables: {} }),
});

const OfFunction = z.object({ FunctionName: z.string() });
const AliasProperties = OfFunction.extend({ Name: z.string() });
/** Nothing is published here: every version is the current code. */
const ONLY_VERSION = '1';

/** Settings of the local run that apply to every function, in addition to the template. */
export interface FunctionContext {
  /** Set over the template's variables. */
  environment: Record<string, string>;
  /** Endpoints whose calls are checked against the function's role. */
  endpoints: readonly string[];
  /** Concurrent invocations of a function's event sources, by the function's name. */
  concurrency: ReadonlyMap<string, number>;
  capacity: SandboxCapacity;
  compileCache: string;
  nodeBinary?: string;
  onLog: (line: { source: string; text: string }) => void;
  onPermission?: (used: UsedPermission) => void;
  /** As `rolesEnforced` of {@link LocalFunction}. */
  rolesEnforced?: boolean;
  /** By the physical name of a function. */
  faults?: Readonly<Record<string, FaultPlan>>;
  onFault?: (injected: FunctionFault) => void;
}

/** A fault that a request of a function had. */
export interface FunctionFault extends InjectedFault {
  /** Physical name. */
  functionName: string;
}

/** What the role of a function allows. */
export interface FunctionRole {
  /** Physical name. */
  functionName: string;
  statements: readonly Statement[];
}

/** Something that a function did, or was not allowed to do. */
export interface UsedPermission extends PermissionRequest {
  /** Physical name. */
  functionName: string;
  isAllowed: boolean;
}

/** The functions of a template, by the names that the rest of it has for them. */
export interface Functions {
  /**
   * @param nameOrArn physical name or ARN, of the function or of a version or alias of it: all are the code
   *   as it is
   * @throws LocalRunError when there is none
   */
  of(nameOrArn: string): LocalFunction;
  /** What their roles allow. */
  roles: readonly FunctionRole[];
  processIds(): number[];
  stop(): Promise<void>;
}

/** Names the template's functions with their versions and aliases, roles and log groups. */
export function defineFunctions(template: Template, references: References): void {
  for (const resource of template.ofType('AWS::Lambda::Function')) {
    const name = nameOf(template, resource, 'FunctionName');
    references.define(resource.logicalId, { ref: name, attributes: { Arn: functionArn(name) } });
  }
  for (const resource of template.ofType('AWS::Lambda::Version')) {
    const { FunctionName } = parseProperties(OfFunction, resource, references);
    const ref = functionArn(`${FunctionName}:${ONLY_VERSION}`);
    references.define(resource.logicalId, { ref, attributes: { Version: ONLY_VERSION, FunctionArn: ref } });
  }
  for (const resource of template.ofType('AWS::Lambda::Alias')) {
    const { FunctionName, Name } = parseProperties(AliasProperties, resource, references);
    references.define(resource.logicalId, { ref: functionArn(`${FunctionName}:${Name}`) });
  }
  for (const resource of template.ofType('AWS::IAM::Role')) {
    const name = nameOf(template, resource, 'RoleName');
    const attributes = { Arn: `arn:${PARTITION}:iam::${ACCOUNT}:role/${name}` };
    references.define(resource.logicalId, { ref: name, attributes });
  }
  for (const resource of template.ofType('AWS::Logs::LogGroup')) {
    const name = nameOf(template, resource, 'LogGroupName');
    const attributes = { Arn: `arn:${PARTITION}:logs:${REGION}:${ACCOUNT}:log-group:${name}:*` };
    references.define(resource.logicalId, { ref: name, attributes });
  }
}

/**
 * Makes the template's functions ready to be invoked; none of them runs before it is.
 *
 * @throws LocalRunError for what the local run does not know of a function, its role or its faults
 */
export function createFunctions(
  template: Template,
  references: References,
  context: FunctionContext,
): Functions {
  const preload = preloadFileIn(context.compileCache);
  const tableKeys = tableKeysOf(template, references);
  const all = template.ofType('AWS::Lambda::Function').map((resource) => {
    const properties = parseProperties(FunctionProperties, resource, references);
    const name = nameOf(template, resource, 'FunctionName');
    const { environment, concurrency, onLog, onPermission, faults, onFault, ...others } = context;
    const plan = faults?.[name];
    if (plan) requirePossible(plan);
    return new LocalFunction({
      ...others,
      preload,
      tableKeys,
      name,
      directory: template.assetDirectory(resource),
      handler: properties.Handler,
      timeoutSeconds: properties.Timeout,
      memoryMiB: properties.MemorySize,
      allowsLoops: properties.RecursiveLoop === 'Allow',
      environment: { ...properties.Environment.Variables, ...environment },
      maxSandboxes: Math.min(
        properties.ReservedConcurrentExecutions ?? Number.POSITIVE_INFINITY,
        concurrency.get(name) ?? DEFAULT_SANDBOXES,
      ),
      statements: statementsOf(template, references, resource),
      onLog: (text) => onLog({ source: name, text }),
      ...(onPermission && {
        onPermission: (asked: PermissionRequest, isAllowed: boolean) =>
          onPermission({ ...asked, functionName: name, isAllowed }),
      }),
      ...(plan && { faults: plan }),
      ...(onFault && {
        onFault: (injected: InjectedFault) => onFault({ ...injected, functionName: name }),
      }),
    });
  });
  for (const name of Object.keys(context.faults ?? {}))
    if (!all.some((fn) => fn.name === name)) throw new LocalRunError(`The template has no function ${name}`);
  const byName = new Map(all.flatMap((fn) => [[fn.name, fn] as const, [fn.arn, fn] as const]));
  return {
    roles: all.map(({ name, statements }) => ({ functionName: name, statements })),
    processIds: () => all.flatMap((fn) => fn.processIds()),
    async stop() {
      await Promise.all(all.map((fn) => fn.stop()));
    },
    of(nameOrArn) {
      const fn = byName.get(unqualified(nameOrArn));
      if (!fn) throw new LocalRunError(`The template has no function ${nameOrArn}`);
      return fn;
    },
  };
}

/** What the template's tables have as keys, by their names. */
function tableKeysOf(template: Template, references: References): Record<string, TableKeys> {
  const tables = template.ofType('AWS::DynamoDB::Table').map((resource): [string, TableKeys] => {
    const { KeySchema, GlobalSecondaryIndexes = [] } = parseProperties(TableDefinition, resource, references);
    return [
      String(references.resolve({ Ref: resource.logicalId })),
      {
        key: keyNames(KeySchema),
        indexes: GlobalSecondaryIndexes.map((index) => ({
          name: index.IndexName,
          key: keyNames(index.KeySchema),
        })),
      },
    ];
  });
  return Object.fromEntries(tables);
}

/** Partition key first. */
const keyNames = (schema: TableDefinition['KeySchema']): string[] =>
  schema.toSorted((a, b) => a.KeyType.localeCompare(b.KeyType)).map(({ AttributeName }) => AttributeName);

/** Without the version or alias at its end: `name:live`, `arn:aws:lambda:…:function:name:live`. */
export const unqualified = (nameOrArn: string): string =>
  /^((?:arn:[^:]*:lambda:[^:]*:[^:]*:function:)?[^:]+)/.exec(nameOrArn)?.[1] ?? nameOrArn;

function nameOf(template: Template, resource: Resource, property: string): string {
  const given = resource.properties[property];
  return physicalName(template, resource, typeof given === 'string' ? given : undefined);
}
