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

/** The stack's template with placeholders for the functions' code: what is tested here is not in the bundles. */
export function synthesize(context: Record<string, unknown> = {}): Template {
  return Template.fromStack(stackIn(new App({ analyticsReporting: false, context })));
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
