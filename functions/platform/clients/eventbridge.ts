import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { terms } from './terms.ts';
import { countingThrottles } from './throttles.ts';

export const eventBridgeClient = (): EventBridgeClient =>
  countingThrottles(new EventBridgeClient(terms()), 'eventbridge');
