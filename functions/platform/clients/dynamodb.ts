import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { terms } from './terms.ts';
import { countingThrottles } from './throttles.ts';

export const documentClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(countingThrottles(new DynamoDBClient(terms()), 'dynamodb'), {
    marshallOptions: { removeUndefinedValues: true },
  });
