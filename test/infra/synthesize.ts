import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { readSettings } from '../../lib/cloud/settings.ts';
import { ConversationServiceStack } from '../../lib/cloud/stack.ts';

export interface SynthesizedResource {
  Type: string;
  Properties: Record<string, unknown>;
  DeletionPolicy?: string;
}

/** Without a sender of e-mail the stack has no mailer. */
export const MAIL = {
  mailFrom: 'notifications@mail.example.com',
  dashboardOrigin: 'https://dashboard.example.com',
};

/** The stack's template with placeholders for the functions' code: what is tested here is not in the bundles. */
export function synthesize(context: Record<string, unknown> = {}): Template {
  return Template.fromStack(
    stackIn(new App({ analyticsReporting: false, context: { ...MAIL, ...context } })),
  );
}

/** The stack itself, for what is done to it before its synthesis. */
export function stackIn(app: App): ConversationServiceStack {
  return new ConversationServiceStack(app, 'ConversationService', {
    settings: readSettings(app.node),
    code: () => lambda.Code.fromInline('exports.handler = async () => {};'),
  });
}

/** All resources of a type, by logical id. */
export const ofType = (template: Template, type: string): [string, SynthesizedResource][] =>
  Object.entries(template.findResources(type)) as [string, SynthesizedResource][];

/** The function of a route or worker. @throws when there is none */
export function functionNamed(template: Template, name: string): [id: string, fn: SynthesizedResource] {
  const found = ofType(template, 'AWS::Lambda::Function').find(
    ([, fn]) => Object(fn.Properties.Environment).Variables.POWERTOOLS_SERVICE_NAME === name,
  );
  if (found === undefined) throw new Error(`there is no function ${name}`);
  return found;
}

/** One thing that a role allows. */
export interface Statement {
  Action: string | string[];
  Resource: unknown;
  Effect: string;
}

/** What the role of a function allows. */
export function statementsOf(template: Template, fn: SynthesizedResource): Statement[] {
  const [role] = Object(fn.Properties.Role)['Fn::GetAtt'];
  const [, found] = ofType(template, 'AWS::IAM::Role').find(([id]) => id === role) ?? [];
  return Object(found?.Properties).Policies.flatMap(
    ({ PolicyDocument }: { PolicyDocument: { Statement: Statement[] } }) => PolicyDocument.Statement,
  );
}

/** What a function may do with tables and their indexes, as `dynamodb:Query Service/index/of-sandbox`. */
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
