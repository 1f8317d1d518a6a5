"""Uses the client of openapi-generator. Ends with an error when an answer is not as documented."""

import os
from uuid import uuid4

import conversations

configuration = conversations.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"])
client = conversations.ApiClient(configuration)

registration = conversations.RegisterWebhook(url=os.environ["RECEIVER"], events=["ticket.created"])
webhook = conversations.WebhooksApi(client).register_webhook(str(uuid4()), registration)
assert webhook.success is True and webhook.data.secret.startswith("whsec_"), webhook

tickets = conversations.TicketsApi(client)
ids = [
    tickets.create_ticket(create_ticket=conversations.CreateTicket(reason=reason)).data.id
    for reason in ["one", "two"]
]
first = tickets.list_tickets(limit=1)
second = tickets.list_tickets(limit=1, cursor=first.next_cursor)
assert [ticket.id for ticket in first.data + second.data] == ids[::-1], (first, second)

try:
    tickets.read_ticket(f"tkt_{'0' * 32}")
    raise AssertionError("an unknown ticket was found")
except conversations.exceptions.NotFoundException as error:
    assert error.data.error.type == "NOT_FOUND", error
