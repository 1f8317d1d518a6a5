"""Makes a conversation with the generated client. Ends with an error when an answer is not as documented."""

import os
from datetime import datetime, timedelta, timezone
from uuid import uuid4

from conversation_service_api_client import AuthenticatedClient
from conversation_service_api_client.api.channels import create_channel, list_channels
from conversation_service_api_client.api.conversations import (
    create_conversation,
    create_message,
    list_messages,
    read_conversation,
    resolve_conversation,
)
from conversation_service_api_client.api.events import list_events
from conversation_service_api_client.api.webhooks import register_webhook
from conversation_service_api_client.models import (
    ConversationResponse,
    CreateConversation,
    CreatedHttpChannel,
    CreateHttpChannel,
    CreateMessage,
    CreateMessageRole,
    CreateWebWidgetChannel,
    ErrorResponse,
    HttpChannel,
    RegisterWebhook,
    RegisterWebhookEventsItem,
    WebWidgetChannel,
)


def new_key() -> str:
    return str(uuid4())


client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])
receiver = os.environ["RECEIVER"]

webhook = register_webhook.sync(
    client=client,
    body=RegisterWebhook(url=receiver, events=[RegisterWebhookEventsItem.CONVERSATION_CREATED]),
    idempotency_key=new_key(),
)
assert webhook.data.secret.startswith("whsec_"), webhook

channel = create_channel.sync(
    client=client,
    body=CreateHttpChannel(kind="http", name="Replies", url=receiver),
    idempotency_key=new_key(),
)
assert isinstance(channel.data, CreatedHttpChannel), channel
create_channel.sync(client=client, body=CreateWebWidgetChannel(kind="web_widget", name="Widget"))
kinds = [type(listed) for listed in list_channels.sync(client=client).data]
assert kinds == [WebWidgetChannel, HttpChannel], kinds

created = create_conversation.sync(
    client=client,
    body=CreateConversation(channel_id=channel.data.id, external_user_id="visitor-1"),
    idempotency_key=new_key(),
)
assert isinstance(created, ConversationResponse), created
conversation = created.data.id

texts = ["Hello 👋", "How can I help?"]
for role, content in zip([CreateMessageRole.USER, CreateMessageRole.AGENT], texts):
    create_message.sync(
        id=conversation,
        client=client,
        body=CreateMessage(role=role, content=content),
        idempotency_key=new_key(),
    )
assert [message.content for message in list_messages.sync(id=conversation, client=client, limit=500).data] == texts[::-1]

resolved = resolve_conversation.sync(id=conversation, client=client)
assert resolved.data.status == "resolved", resolved

page = list_events.sync(client=client, from_=datetime.now(timezone.utc) - timedelta(hours=1))
assert not isinstance(page, ErrorResponse), page

unknown = read_conversation.sync(id=f"cnv_{'0' * 32}", client=client)
assert isinstance(unknown, ErrorResponse), unknown
assert unknown.error.type_ == "NOT_FOUND", unknown
