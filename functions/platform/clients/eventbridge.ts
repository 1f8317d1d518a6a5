import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { terms } from './terms.ts';

export const eventBridgeClient = (): EventBridgeClient => new EventBridgeClient(terms());
