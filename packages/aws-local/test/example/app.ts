import { join } from 'node:path';
import { App, aws_apigateway, aws_lambda, aws_sqs, Stack } from 'aws-cdk-lib';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';

/* A minimal assembly: takes orders over HTTP, and processes them from a queue. */
const app = new App({ outdir: process.env.CDK_OUTDIR ?? 'cdk.out' });
const stack = new Stack(app, 'Orders');
const queue = new aws_sqs.Queue(stack, 'Queue');
const code = aws_lambda.Code.fromAsset(join(import.meta.dirname, 'functions'));
const runtime = aws_lambda.Runtime.NODEJS_24_X;
const environment = { QUEUE_URL: queue.queueUrl };
const order = new aws_lambda.Function(stack, 'Order', { code, runtime, handler: 'index.order', environment });
const work = new aws_lambda.Function(stack, 'Work', { code, runtime, handler: 'index.work' });
queue.grantSendMessages(order);
work.addEventSource(new SqsEventSource(queue));
const api = new aws_apigateway.LambdaRestApi(stack, 'Api', { handler: order, proxy: false });
api.root.addResource('orders').addMethod('POST');
app.synth();
