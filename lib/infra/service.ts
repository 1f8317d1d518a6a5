import type { Construct } from 'constructs';
import { operatorOutputs } from './operator-outputs.ts';
import type { CodeOf } from './service-function.ts';
import type { Settings } from './settings.ts';
import { DashboardStack } from './stacks/dashboard-stack.ts';
import { DataStack } from './stacks/data-stack.ts';
import { FunctionsStack } from './stacks/functions-stack.ts';
import { GatewayStack } from './stacks/gateway-stack.ts';
import { WorkersStack } from './stacks/workers-stack.ts';

/** Stacks of a stage's Conversation Service API. */
export interface ConversationService {
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
  const data = new DataStack(scope, settings);
  const functions = new FunctionsStack(scope, data, { settings, code });
  const gateway = new GatewayStack(scope, functions, settings);
  const service = {
    data,
    functions,
    gateway,
    workers: new WorkersStack(scope, data, { settings, code }),
    dashboard: new DashboardStack(scope, gateway, { settings, directory: dashboard }),
  };
  // Last: the workers have created their queues.
  operatorOutputs(data);
  return service;
}
