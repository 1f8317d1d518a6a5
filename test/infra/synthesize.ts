import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { joinStacks, type StackContent } from 'aws-local/template/stacks.ts';
import { readStacks } from 'aws-local/template/template.ts';
import { readStages } from '../../lib/infra/context.ts';
import { type ConversationService, conversationService } from '../../lib/infra/service.ts';
import { readSettings } from '../../lib/infra/settings.ts';
import { builtDashboard } from '../support/built-dashboard.ts';
import { contextOf, type TestContext } from './contexts.ts';
import { SYNTHESES_VARIABLE } from './syntheses.ts';

const { context: FLAGS } = JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8'));

export interface SynthesizedResource {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

type Synthesized = { template: Template; stacks: StackContent[] };
const made = new Map<string, Synthesized>();

/** The stacks' templates as one, with placeholders for the functions' code, which these tests do not need. */
export const synthesize = (context: TestContext = {}): Template => madeOf(contextOf(context)).template;

/** The same of a stage with its file. */
export async function synthesizeStage(stage: string): Promise<Template> {
  const [{ content: settings } = {}] = await readStages({ CDK_CONTEXT_JSON: JSON.stringify({ stage }) });
  return madeOf({ stage, settings }).template;
}

/** The stacks' templates one by one, by the last part of their names. */
export const stacksOf = (context: TestContext = {}): StackContent[] => madeOf(contextOf(context)).stacks;

/** Cached, because many tests read the same template. */
function madeOf(context: object): Synthesized {
  const key = JSON.stringify(context);
  const cached = made.get(key);
  if (cached !== undefined) return cached;
  const stacks = stacksOnce(key, context);
  const synthesized = { template: Template.fromJSON(joinStacks(stacks).content), stacks };
  made.set(key, synthesized);
  return synthesized;
}

/** Another worker of this run may have synthesized it, see syntheses.ts. */
function stacksOnce(key: string, context: object): StackContent[] {
  const directory = process.env[SYNTHESES_VARIABLE];
  const file = directory && join(directory, `${createHash('sha256').update(key).digest('hex')}.json`);
  if (file && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'));
  const stacks = withoutCallStacks(() => {
    const app = appWith(context);
    serviceIn(app);
    return templatesOf(app);
  });
  if (file) {
    const whole = `${file}.${process.pid}`;
    writeFileSync(whole, JSON.stringify(stacks));
    renameSync(whole, file);
  }
  return stacks;
}

/**
 * Without CloudFormation's rules, which take longer than all the rest: security.test.ts applies them to the
 * whole synthesis. Also without the tree and the stack traces, which are not in the templates.
 */
const appWith = (context: object): App =>
  new App({
    analyticsReporting: false,
    builtinCloudFormationValidation: false,
    treeMetadata: false,
    stackTraces: false,
    context: { ...FLAGS, ...context },
  });

export const uncheckedApp = (context: TestContext = {}): App => appWith(contextOf(context));

/** The CDK records a call stack for each token, also with `stackTraces: false`. */
function withoutCallStacks<T>(run: () => T): T {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

const templatesOf = (app: App): StackContent[] => readStacks(app.synth().directory);

/** Of the app's stacks, with the exports of one in place of another's imports. */
export const joined = (app: App): Template => Template.fromJSON(joinStacks(templatesOf(app)).content);

/** The stacks themselves, for changes before their synthesis. */
export function serviceIn(app: App): ConversationService {
  return conversationService(app, {
    settings: readSettings(app.node.getContext('stage'), app.node.getContext('settings')),
    code: () => lambda.Code.fromInline('exports.handler = async () => {};'),
    dashboard: builtDashboard(),
  });
}

/** All resources of a type, by logical id. */
export function ofType(template: Template, type: string): [string, SynthesizedResource][] {
  const resources: Record<string, SynthesizedResource> = template.toJSON().Resources;
  return Object.entries(resources).filter(([, { Type }]) => Type === type);
}

/** The methods of the gateway, with their paths and what they invoke. */
export function methodsOf(template: Template): { method: unknown; path: string; uri: string }[] {
  const resources: Record<string, SynthesizedResource> = template.toJSON().Resources;
  const pathOf = (resourceId: unknown): string => {
    const properties = resources[Object(resourceId).Ref]?.Properties;
    return properties?.PathPart === undefined ? '' : `${pathOf(properties.ParentId)}/${properties.PathPart}`;
  };
  return ofType(template, 'AWS::ApiGateway::Method').map(([, { Properties }]) => ({
    method: Properties.HttpMethod,
    path: pathOf(Properties.ResourceId),
    uri: JSON.stringify(Object(Properties.Integration).Uri ?? ''),
  }));
}

/** The function of a route or worker. @throws when there is none */
export function functionNamed(template: Template, name: string): [id: string, fn: SynthesizedResource] {
  const resource = ofType(template, 'AWS::Lambda::Function').find(
    ([, fn]) => Object(fn.Properties.Environment).Variables.FUNCTION_NAME === name,
  );
  if (resource === undefined) throw new Error(`there is no function ${name}`);
  return resource;
}

/** Whether a name is that of a function, or of an alias of it. */
export function invokes(template: Template, name: unknown, functionId: string): boolean {
  const said = JSON.stringify(name);
  const names = [functionId, ...aliasesOf(template, functionId)];
  return names.some((id) => said.includes(JSON.stringify({ Ref: id })));
}

const aliasesOf = (template: Template, functionId: string): string[] =>
  ofType(template, 'AWS::Lambda::Alias')
    .filter(([, { Properties }]) => Object(Properties.FunctionName).Ref === functionId)
    .map(([id]) => id);

/** One permission of a role. */
export interface Statement {
  Action: string | string[];
  Resource: unknown;
  Effect: string;
}

/** The permissions of a function's role. */
export function statementsOf(template: Template, fn: SynthesizedResource): Statement[] {
  const [role] = Object(fn.Properties.Role)['Fn::GetAtt'];
  const [, properties] = ofType(template, 'AWS::IAM::Role').find(([id]) => id === role) ?? [];
  return Object(properties?.Properties).Policies.flatMap(
    ({ PolicyDocument }: { PolicyDocument: { Statement: Statement[] } }) => PolicyDocument.Statement,
  );
}

/** The actions of a function on tables and their indexes, as `dynamodb:Query Service/index/of-sandbox`. */
export function tableGrants(template: Template, fn: SynthesizedResource): string[] {
  return statementsOf(template, fn)
    .flatMap(({ Action, Resource }: { Action: string | string[]; Resource: unknown }) =>
      [Resource].flat().flatMap((resource) => {
        const [, table] = /"Tables([A-Z][a-z]+)/.exec(JSON.stringify(resource)) ?? [];
        const [index = ''] = /\/(index|stream)\/[a-z*-]+/.exec(JSON.stringify(resource)) ?? [];
        return table === undefined ? [] : [Action].flat().map((action) => `${action} ${table}${index}`);
      }),
    )
    .sort();
}
