import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { prepared } from './prepared.ts';
import { terms } from './terms.ts';

export const eventBridgeClient = (): EventBridgeClient =>
  prepared(new EventBridgeClient(terms()), 'eventbridge');
