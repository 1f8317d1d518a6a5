/**
 * How a receiver verifies what it is sent, with the libraries of Standard Webhooks. The body must be the
 * bytes that came, not what was parsed from them.
 */
export const VERIFICATION = [
  {
    id: 'node',
    name: 'Node.js',
    code: `// npm install standardwebhooks express
import express from 'express';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

express()
  .post('/hooks', express.raw({ type: 'application/json' }), (request, response) => {
    try {
      const event = webhook.verify(request.body, request.headers);
      console.log(event.type, event.data);
      response.sendStatus(204);
    } catch {
      response.sendStatus(400);
    }
  })
  .listen(4000);`,
  },
  {
    id: 'python',
    name: 'Python',
    code: `# pip install standardwebhooks flask
import os
from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["WEBHOOK_SECRET"])

@app.post("/hooks")
def hooks():
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except WebhookVerificationError:
        return "", 400
    print(event["type"], event["data"])
    return "", 204`,
  },
  {
    id: 'go',
    name: 'Go',
    code: `// go get github.com/standard-webhooks/standard-webhooks/libraries/go
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /hooks", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || webhook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Println(string(body))
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe(":4000", nil))
}`,
  },
  {
    id: 'ruby',
    name: 'Ruby',
    code: `# gem install standardwebhooks sinatra puma rackup
require "sinatra"
require "standardwebhooks"

webhook = StandardWebhooks::Webhook.new(ENV.fetch("WEBHOOK_SECRET"))

post "/hooks" do
  headers = %w[id timestamp signature].to_h do |name|
    ["webhook-#{name}", request.get_header("HTTP_WEBHOOK_#{name.upcase}")]
  end
  begin
    event = webhook.verify(request.body.read, headers)
    puts event["type"], event["data"]
    status 204
  rescue StandardWebhooks::WebhookVerificationError
    status 400
  end
end`,
  },
] as const;
