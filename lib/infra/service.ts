import type { Construct } from 'constructs';
import { operatorOutputs } from './operator-outputs.ts';
import type { CodeOf } from './service-function.ts';
import type { Settings } from './settings.ts';
import { DashboardStack } from './stacks/dashboard-stack.ts';
import { DataStack } from './stacks/data-stack.ts';
import { FunctionsStack } from './stacks/functions-stack.ts';
import { GatewayStack } from './stacks/gateway-stack.ts';
import { StageStack } from './stacks/service-stack.ts';
import { WorkersStack } from './stacks/workers-stack.ts';

/** The Conversation Service API of a stage: one stack with five in it. */
export interface ConversationService {
  stage: StageStack;
  data: DataStack;
  functions: FunctionsStack;
  gateway: GatewayStack;
  workers: WorkersStack;
  dashboard: DashboardStack;
}

/** @param dashboard directory of the built dashboard */
export function conversationService(
  scope: Construct,
  { settings, code, dashboard }: { settings: Settings; code: CodeOf; dashboard: string },
): ConversationService {
  const stage = new StageStack(scope, settings.policy);
  const data = new DataStack(stage, settings);
  const functions = new FunctionsStack(stage, data, { settings, code });
  const gateway = new GatewayStack(stage, functions, settings);
  const service = {
    stage,
    data,
    functions,
    gateway,
    workers: new WorkersStack(stage, data, { settings, code }),
    dashboard: new DashboardStack(stage, gateway, { settings, directory: dashboard }),
  };
  // Last: the workers have created their queues.
  operatorOutputs(data);
  return service;
}
