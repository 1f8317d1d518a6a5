import * as z from 'zod';
import { ACCOUNT, functionArn, PARTITION, REGION } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import type { TableKeys } from '../permissions/dynamodb-rules.ts';
import type { PermissionRequest } from '../permissions/requests.ts';
import { type Statement, statementsOf } from '../permissions/statements.ts';
import { physicalName } from '../provision/physical-name.ts';
import { parseProperties } from '../provision/properties.ts';
import { listTables, TableDefinition } from '../provision/table-definition.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import type { SandboxCapacity } from './capacity.ts';
import { preloadFileIn } from './preload-file.ts';
import { LocalFunction } from './runtime.ts';

/** Concurrent sandboxes of a function that only requests invoke. */
const DEFAULT_SANDBOXES = 3;
/** Of one that other functions invoke: more than one of an event source's invocations may wait for it. */
const INVOKED_SANDBOXES = 6;

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
/** Every version is the current code. */
const ONLY_VERSION = '1';

/** Settings of the local run for every function, in addition to the template. */
export interface FunctionContext {
  /** Overrides the template's variables. */
  environment: Record<string, string>;
  /** Endpoints whose calls are checked against the function's role. */
  endpoints: readonly string[];
  /** Concurrent invocations by event sources, by function name. */
  concurrency: ReadonlyMap<string, number>;
  capacity: SandboxCapacity;
  compileCache: string;
  nodeBinary?: string;
  onLog: (line: { source: string; text: string }) => void;
  onPermission?: (used: UsedPermission) => void;
  /** As in {@link LocalFunction}. */
  rolesEnforced?: boolean;
}

export interface FunctionRole {
  /** Physical name. */
  functionName: string;
  statements: readonly Statement[];
}

/** An action that a function took or was denied. */
export interface UsedPermission extends PermissionRequest {
  /** Physical name. */
  functionName: string;
  isAllowed: boolean;
}

export interface Functions {
  /**
   * @param nameOrArn physical name or ARN of the function, a version or an alias: all run the current code
   * @throws LocalRunError when there is none
   */
  of(nameOrArn: string): LocalFunction;
  roles: readonly FunctionRole[];
  processIds(): number[];
  stop(): Promise<void>;
}

/** Defines the template's functions with their versions, aliases, roles and log groups. */
export function defineFunctions(template: Template, references: References): void {
  for (const resource of template.ofType('AWS::Lambda::Function')) {
    const name = resolveName(template, resource, 'FunctionName');
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
    const name = resolveName(template, resource, 'RoleName');
    const attributes = { Arn: `arn:${PARTITION}:iam::${ACCOUNT}:role/${name}` };
    references.define(resource.logicalId, { ref: name, attributes });
  }
  for (const resource of template.ofType('AWS::Logs::LogGroup')) {
    const name = resolveName(template, resource, 'LogGroupName');
    const attributes = { Arn: `arn:${PARTITION}:logs:${REGION}:${ACCOUNT}:log-group:${name}:*` };
    references.define(resource.logicalId, { ref: name, attributes });
  }
}

/**
 * Prepares the template's functions; none starts before it is invoked.
 * @throws LocalRunError for unsupported parts of a function or its role
 */
export function createFunctions(
  template: Template,
  references: References,
  context: FunctionContext,
): Functions {
  const preload = preloadFileIn(context.compileCache);
  const tableKeys = readTableKeys(template, references);
  const declared = template.ofType('AWS::Lambda::Function');
  const invoked = new Set(
    declared
      .flatMap((resource) => statementsOf(template, references, resource))
      .filter(({ actions }) => actions.includes('lambda:InvokeFunction'))
      .flatMap(({ resources }) => resources),
  );
  const all = declared.map((resource) => {
    const properties = parseProperties(FunctionProperties, resource, references);
    const name = resolveName(template, resource, 'FunctionName');
    const { environment, concurrency, onLog, onPermission, ...others } = context;
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
        concurrency.get(name) ?? (invoked.has(functionArn(name)) ? INVOKED_SANDBOXES : DEFAULT_SANDBOXES),
      ),
      statements: statementsOf(template, references, resource),
      onLog: (text) => onLog({ source: name, text }),
      ...(onPermission && {
        onPermission: (asked: PermissionRequest, isAllowed: boolean) =>
          onPermission({ ...asked, functionName: name, isAllowed }),
      }),
    });
  });
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

/** Key attributes of the template's tables, by table name. */
function readTableKeys(template: Template, references: References): Record<string, TableKeys> {
  const tables = listTables(template).map((resource): [string, TableKeys] => {
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

/** Strips a version or alias: `name:live`, `arn:aws:lambda:…:function:name:live`. */
export const unqualified = (nameOrArn: string): string =>
  /^((?:arn:[^:]*:lambda:[^:]*:[^:]*:function:)?[^:]+)/.exec(nameOrArn)?.[1] ?? nameOrArn;

function resolveName(template: Template, resource: Resource, property: string): string {
  const given = resource.properties[property];
  return physicalName(template, resource, typeof given === 'string' ? given : undefined);
}
