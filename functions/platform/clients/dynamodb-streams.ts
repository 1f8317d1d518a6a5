import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { terms } from './terms.ts';
import { countingThrottles } from './throttles.ts';

export const streamsClient = (): DynamoDBStreamsClient =>
  countingThrottles(new DynamoDBStreamsClient(terms()), 'streams');
