import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { terms } from './terms.ts';
import { countThrottles } from './throttles.ts';

export const documentClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(countThrottles(new DynamoDBClient(terms()), 'dynamodb'), {
    marshallOptions: { removeUndefinedValues: true },
  });
