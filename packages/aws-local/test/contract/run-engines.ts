import { startDynamoDb } from '../../src/engines/dynamodb.ts';
import { startSqs } from '../../src/engines/sqs.ts';

// Started by abandoned-run.ts: runs the engines of a state directory until it is killed.
const [, , directory = ''] = process.argv;
const dynamodb = await startDynamoDb({ directory });
const sqs = await startSqs({ directory });
const started = { dynamodb: dynamodb.endpoint, sqs: sqs.endpoint, engineProcess: dynamodb.processId() };
process.stdout.write(`${JSON.stringify(started)}\n`);
