import type { Construct } from 'constructs';
import { operatorOutputs } from './operator-outputs.ts';
import type { CodeOf } from './service-function.ts';
import type { Settings } from './settings.ts';
import { DataStack } from './stacks/data-stack.ts';
import { FunctionsStack } from './stacks/functions-stack.ts';
import { GatewayStack } from './stacks/gateway-stack.ts';
import { WorkersStack } from './stacks/workers-stack.ts';

/** The Conversation Service API of a stage: what it is made of, and nothing of how. */
export interface ConversationService {
  data: DataStack;
  functions: FunctionsStack;
  gateway: GatewayStack;
  workers: WorkersStack;
}

export function conversationService(
  scope: Construct,
  { settings, code }: { settings: Settings; code: CodeOf },
): ConversationService {
  const data = new DataStack(scope, settings);
  const functions = new FunctionsStack(scope, data, { settings, code });
  const service = {
    data,
    functions,
    gateway: new GatewayStack(scope, functions, settings),
    workers: new WorkersStack(scope, data, { settings, code }),
  };
  // Last: the workers have made their queues.
  operatorOutputs(data);
  return service;
}
