import * as z from 'zod';
import { ACCOUNT, functionArn, PARTITION, REGION } from '../arns.ts';
import { LocalRunError } from '../errors.ts';
import { statementsOf } from '../permissions/statements.ts';
import { physicalName } from '../provision/physical-name.ts';
import { parseProperties } from '../provision/properties.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import type { SandboxCapacity } from './capacity.ts';
import { LocalFunction } from './runtime.ts';

/** Sandboxes side by side of a function that nothing but requests invokes. */
const DEFAULT_SANDBOXES = 3;

const FunctionProperties = z.object({
  Handler: z.string(),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  ReservedConcurrentExecutions: z.number().optional(),
  Environment: z
    .object({ Variables: z.record(z.string(), z.coerce.string()).default({}) })
    .default({ Variables: {} }),
});

/** What the place gives every function, besides what the template says. */
export interface FunctionSurroundings {
  /** Set over the template's variables. */
  environment: Record<string, string>;
  /** Endpoints whose calls are checked against the function's role. */
  endpoints: readonly string[];
  /** Invocations that a function's event sources may have under way, by the function's name. */
  concurrency: ReadonlyMap<string, number>;
  capacity: SandboxCapacity;
  compileCache: string;
  nodeBinary?: string;
  onLog: (line: { source: string; text: string }) => void;
}

/** The functions of a template, by the names that the rest of it has for them. */
export interface Functions {
  /**
   * @param nameOrArn physical name or ARN
   * @throws LocalRunError when there is none
   */
  of(nameOrArn: string): LocalFunction;
  processIds(): number[];
  stop(): Promise<void>;
}

/** Names the template's functions, roles and log groups. */
export function defineFunctions(template: Template, references: References): void {
  for (const resource of template.ofType('AWS::Lambda::Function')) {
    const name = nameOf(template, resource, 'FunctionName');
    references.define(resource.logicalId, { ref: name, attributes: { Arn: functionArn(name) } });
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
 * @throws LocalRunError for what the local run does not know of a function or its role
 */
export function createFunctions(
  template: Template,
  references: References,
  surroundings: FunctionSurroundings,
): Functions {
  const all = template.ofType('AWS::Lambda::Function').map((resource) => {
    const properties = parseProperties(FunctionProperties, resource, references);
    const name = nameOf(template, resource, 'FunctionName');
    const { environment, concurrency, onLog, ...others } = surroundings;
    return new LocalFunction({
      ...others,
      name,
      directory: template.assetDirectory(resource),
      handler: properties.Handler,
      timeoutSeconds: properties.Timeout,
      memoryMiB: properties.MemorySize,
      environment: { ...properties.Environment.Variables, ...environment },
      maxSandboxes: Math.min(
        properties.ReservedConcurrentExecutions ?? Number.POSITIVE_INFINITY,
        concurrency.get(name) ?? DEFAULT_SANDBOXES,
      ),
      statements: statementsOf(template, references, resource),
      onLog: (text) => onLog({ source: name, text }),
    });
  });
  const byName = new Map(all.flatMap((fn) => [[fn.name, fn] as const, [fn.arn, fn] as const]));
  return {
    processIds: () => all.flatMap((fn) => fn.processIds()),
    async stop() {
      await Promise.all(all.map((fn) => fn.stop()));
    },
    of(nameOrArn) {
      const fn = byName.get(nameOrArn);
      if (!fn) throw new LocalRunError(`The template has no function ${nameOrArn}`);
      return fn;
    },
  };
}

function nameOf(template: Template, resource: Resource, property: string): string {
  const given = resource.properties[property];
  return physicalName(template, resource, typeof given === 'string' ? given : undefined);
}
